import {
  S3Client,
  type S3ClientResolvedConfig,
  type ServiceInputTypes,
  type ServiceOutputTypes,
} from '@aws-sdk/client-s3';
import type { Command } from '@smithy/types';
import { type AppError, unavailable } from '../../errors.ts';

const WRONG_KEY =
  /^(InvalidAccessKeyId|SignatureDoesNotMatch|InvalidToken|ExpiredToken|TokenRefreshRequired)$/;

const WRONG_REGION = /^(PermanentRedirect|AuthorizationHeaderMalformed|IllegalLocationConstraintException)$/;

/** S3 may need a minute to copy an object or to complete an upload. */
const SILENT_MS = 90_000;

const CONNECT_MS = 5_000;

/** Large, because each download uses a connection for as long as its client reads. */
const CONNECTIONS_MAX = 1_000;

const ATTEMPTS = 4;
const ignore = () => undefined;

/** A bucket and its client. */
export type Bucket = {
  client: S3Client;
  /** Returns the bucket and the object's key, as input of a call. */
  at: (name: string) => { Bucket: string; Key: string };
  name: string;
  prefix: string;
  /**
   * Returns the response to a call. Throws AppError('unavailable') if there is no response; its cause is a
   * sentence for the operator. Errors about the object itself, such as a missing one, are thrown unchanged.
   */
  ask: <I extends ServiceInputTypes, O extends ServiceOutputTypes>(
    command: Command<ServiceInputTypes, I, ServiceOutputTypes, O, S3ClientResolvedConfig>,
    abortSignal?: AbortSignal,
  ) => Promise<O>;
};

/**
 * Opens a bucket with the credentials that the SDK finds: environment variables, a profile, or the role of
 * the machine or pod.
 */
export function openBucket(settings: BucketSettings, silentMs = SILENT_MS): Bucket {
  const { bucket: name, prefix, endpoint, region, pathStyle } = settings;
  const agent = { keepAlive: true, maxSockets: CONNECTIONS_MAX };
  const client = new S3Client({
    ...(endpoint !== null && { endpoint }),
    ...(region !== null && { region }),
    forcePathStyle: pathStyle,
    maxAttempts: ATTEMPTS,
    // No log, because important errors are thrown.
    logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    // Disabled because other services do not support AWS's checksums. The connection is signed, and bytes are
    // hashed when they are read.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      ...{ connectionTimeout: CONNECT_MS, socketTimeout: silentMs },
      ...{ httpAgent: agent, httpsAgent: agent },
    },
  });
  return {
    ...{ client, name, prefix },
    at: (object) => ({ Bucket: name, Key: prefix + object }),
    ask: async (command, abortSignal) => {
      try {
        return await client.send(command, { ...(abortSignal && { abortSignal }) });
      } catch (error) {
        throw isOfObject(error) ? error : storeUnavailable(describeFault(error, settings), error);
      }
    },
  };
}

/**
 * Returns the error for an unavailable store. The caller sees a general sentence; the cause contains the
 * reason for the operator.
 */
export function storeUnavailable(why: string, cause: unknown): AppError {
  return unavailable('The store of files does not answer. Nothing is lost: try again in a minute.', {
    cause: new Error(why, { cause }),
  });
}

/** Returns true if the object does not exist. */
export function isMissing(error: unknown): boolean {
  return codeOf(error) === 'NoSuchKey' || (codeOf(error) === 'NotFound' && statusOf(error) === 404);
}

function isOfObject(error: unknown): boolean {
  return isMissing(error) || codeOf(error) === 'NoSuchUpload' || [412, 416].includes(statusOf(error) ?? 0);
}

/** Settings of the bucket. */
export type BucketSettings = {
  bucket: string;
  /** Prefix of all names: '', or text with a trailing slash. */
  prefix: string;
  /** Null for AWS. */
  endpoint: string | null;
  /** Null for the region that the SDK finds. */
  region: string | null;
  pathStyle: boolean;
};

type Fault = {
  name?: string;
  Code?: string;
  code?: string;
  message?: string;
  Region?: string;
  $metadata?: { httpStatusCode?: number };
  $response?: { headers?: Record<string, string> };
};

/** Returns the name of the S3 or network error. */
export function codeOf(error: unknown): string {
  const { Code, name, code } = error as Fault;
  return Code ?? (name === undefined || name === 'Error' ? code : name) ?? '';
}

export function statusOf(error: unknown): number | undefined {
  return (error as Fault).$metadata?.httpStatusCode;
}

/** Tells the operator in one sentence what to do. */
function describeFault(
  error: unknown,
  { bucket, endpoint, region }: Pick<BucketSettings, 'bucket' | 'endpoint' | 'region'>,
): string {
  const fault = error as Fault;
  const [code, status] = [codeOf(error), statusOf(error)];
  const where = endpoint ?? 'AWS S3';
  if (code === 'NoSuchBucket')
    return `There is no bucket '${bucket}' at ${where}: create it, or correct BAKEHOUSE_S3_BUCKET.`;
  if (WRONG_REGION.test(code) || status === 301) {
    const actual = fault.Region ?? fault.$response?.headers?.['x-amz-bucket-region'];
    const other = actual === undefined ? 'another region' : `the region ${actual}`;
    return `The bucket '${bucket}' is in ${other}, not in ${region ?? 'the configured region'}: set BAKEHOUSE_S3_REGION.`;
  }
  if (code === 'RequestTimeTooSkewed')
    return `The clock of this machine differs too much from the clock of ${where}: correct it, e.g. with NTP.`;
  if (code === 'CredentialsProviderError')
    return 'There are no credentials for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile, or a role of the machine.';
  if (WRONG_KEY.test(code))
    return `${where} does not accept the credentials (${code}): correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the role.`;
  if (status === 403)
    return `${where} denies these credentials access to the bucket '${bucket}' (${code}), which may belong to another account. They need s3:ListBucket, s3:ListBucketMultipartUploads, s3:ListMultipartUploadParts, s3:GetObject, s3:PutObject, s3:DeleteObject and s3:AbortMultipartUpload.`;
  if (fault.message === 'Region is missing')
    return 'The region of the bucket is unknown: set BAKEHOUSE_S3_REGION.';
  if (status === undefined)
    return `${where} cannot be reached (${code || fault.message}): correct BAKEHOUSE_S3_ENDPOINT, or wait until the service responds.`;
  return `${where} answers with ${status} (${code}): ${fault.message}`;
}
