import type { BucketSettings } from './bucket-settings.ts';

type Fault = {
  name?: string;
  Code?: string;
  code?: string;
  message?: string;
  Region?: string;
  $metadata?: { httpStatusCode?: number };
  $response?: { headers?: Record<string, string> };
};

const WRONG_KEY =
  /^(InvalidAccessKeyId|SignatureDoesNotMatch|InvalidToken|ExpiredToken|TokenRefreshRequired)$/;
const WRONG_REGION = /^(PermanentRedirect|AuthorizationHeaderMalformed|IllegalLocationConstraintException)$/;

/** Returns the error's name in S3 or the network. */
export function codeOf(error: unknown): string {
  const { Code, name, code } = error as Fault;
  return Code ?? (name === undefined || name === 'Error' ? code : name) ?? '';
}

export function statusOf(error: unknown): number | undefined {
  return (error as Fault).$metadata?.httpStatusCode;
}

/** Returns what the operator has to do, in one sentence. */
export function describeFault(
  error: unknown,
  { bucket, endpoint, region }: Pick<BucketSettings, 'bucket' | 'endpoint' | 'region'>,
): string {
  const fault = error as Fault;
  const [code, status] = [codeOf(error), statusOf(error)];
  const where = endpoint ?? 'AWS S3';
  if (code === 'NoSuchBucket')
    return `There is no bucket '${bucket}' at ${where}: make it, or correct BAKEHOUSE_S3_BUCKET.`;
  if (WRONG_REGION.test(code) || status === 301) {
    const actual = fault.Region ?? fault.$response?.headers?.['x-amz-bucket-region'];
    const other = actual === undefined ? 'another region' : `the region ${actual}`;
    return `The bucket '${bucket}' lies in ${other}, not in ${region ?? 'the one that is configured'}: set BAKEHOUSE_S3_REGION.`;
  }
  if (code === 'RequestTimeTooSkewed')
    return `The clock of this machine differs too much from that of ${where}: set it right, e.g. by NTP.`;
  if (code === 'CredentialsProviderError')
    return 'There are no credentials for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile, or a role of the machine.';
  if (WRONG_KEY.test(code))
    return `${where} does not accept the credentials (${code}): correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the role.`;
  if (status === 403)
    return `${where} refuses the bucket '${bucket}' to these credentials (${code}): it may be somebody else's. They need s3:ListBucket, s3:ListBucketMultipartUploads, s3:ListMultipartUploadParts, s3:GetObject, s3:PutObject, s3:DeleteObject and s3:AbortMultipartUpload.`;
  if (fault.message === 'Region is missing')
    return 'The region of the bucket is not known: set BAKEHOUSE_S3_REGION.';
  if (status === undefined)
    return `${where} cannot be reached (${code || fault.message}): correct BAKEHOUSE_S3_ENDPOINT, or wait until it answers.`;
  return `${where} answers with ${status} (${code}): ${fault.message}`;
}
