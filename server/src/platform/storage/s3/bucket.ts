import {
  S3Client,
  type S3ClientResolvedConfig,
  type ServiceInputTypes,
  type ServiceOutputTypes,
} from '@aws-sdk/client-s3';
import type { Command } from '@smithy/types';
import { AppError } from '../../errors.ts';
import type { BucketSettings } from './bucket-settings.ts';
import { codeOf, describeFault, statusOf } from './faults.ts';

/** A bucket, and what it takes to ask for something in it. */
export type Bucket = {
  client: S3Client;
  /** What each call begins with: the bucket, and the object of this name. */
  at: (name: string) => { Bucket: string; Key: string };
  name: string;
  prefix: string;
  /**
   * The answer of a call. Throws AppError('unavailable') where there is none, with the cause as a sentence for the
   * operator; what S3 says of an object itself, that it is missing or another one, it throws as it came.
   */
  ask: <I extends ServiceInputTypes, O extends ServiceOutputTypes>(
    command: Command<ServiceInputTypes, I, ServiceOutputTypes, O, S3ClientResolvedConfig>,
    abortSignal?: AbortSignal,
  ) => Promise<O>;
};

/** Long enough for a copy or an end of an upload that takes a minute. */
const SILENT_MS = 90_000;
const CONNECT_MS = 5_000;
/** A download keeps its connection as long as its reader takes. */
const CONNECTIONS_MAX = 1_000;
const ATTEMPTS = 4;

const ignore = () => undefined;

/** Credentials are those that the SDK finds: in the environment, a profile, the machine's or the pod's role. */
export function openBucket(settings: BucketSettings, silentMs = SILENT_MS): Bucket {
  const { bucket: name, prefix, endpoint, region, pathStyle } = settings;
  const agent = { keepAlive: true, maxSockets: CONNECTIONS_MAX };
  const client = new S3Client({
    ...(endpoint !== null && { endpoint }),
    ...(region !== null && { region }),
    forcePathStyle: pathStyle,
    maxAttempts: ATTEMPTS,
    // What matters is thrown.
    logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    // Other services know no checksums of AWS; bytes are signed on their way, and hashed when they are read.
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
        throw isOfObject(error) ? error : unavailable(describeFault(error, settings), error);
      }
    },
  };
}

/** The store of files itself is in trouble. Says it to whoever asked, and why to the operator. */
export function unavailable(why: string, cause: unknown): AppError {
  return new AppError('unavailable', {
    publicMessage: 'The store of files does not answer. Nothing is lost: try again in a minute.',
    cause: new Error(why, { cause }),
  });
}

/** Whether the object is not there. */
export function isMissing(error: unknown): boolean {
  return codeOf(error) === 'NoSuchKey' || (codeOf(error) === 'NotFound' && statusOf(error) === 404);
}

function isOfObject(error: unknown): boolean {
  return isMissing(error) || codeOf(error) === 'NoSuchUpload' || [412, 416].includes(statusOf(error) ?? 0);
}
