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

/** A bucket and its client. */
export type Bucket = {
  client: S3Client;
  /** Base input of each call: the bucket, and the object with this name. */
  at: (name: string) => { Bucket: string; Key: string };
  name: string;
  prefix: string;
  /**
   * Returns the response to a call. Throws AppError('unavailable') if there is none, with the cause as a
   * sentence for the operator; errors about an object itself (missing or changed) are thrown unchanged.
   */
  ask: <I extends ServiceInputTypes, O extends ServiceOutputTypes>(
    command: Command<ServiceInputTypes, I, ServiceOutputTypes, O, S3ClientResolvedConfig>,
    abortSignal?: AbortSignal,
  ) => Promise<O>;
};

/** Long enough for a copy or the completion of an upload, which take a minute. */
const SILENT_MS = 90_000;
const CONNECT_MS = 5_000;
/** A download holds its connection for as long as its reader takes. */
const CONNECTIONS_MAX = 1_000;
const ATTEMPTS = 4;

const ignore = () => undefined;

/** Opens a bucket with the SDK's credentials: environment, profile, or the machine's or pod's role. */
export function openBucket(settings: BucketSettings, silentMs = SILENT_MS): Bucket {
  const { bucket: name, prefix, endpoint, region, pathStyle } = settings;
  const agent = { keepAlive: true, maxSockets: CONNECTIONS_MAX };
  const client = new S3Client({
    ...(endpoint !== null && { endpoint }),
    ...(region !== null && { region }),
    forcePathStyle: pathStyle,
    maxAttempts: ATTEMPTS,
    // Important errors are thrown.
    logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    // Other services do not support AWS's checksums; bytes are signed in transit, and hashed when they are
    // read.
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

/** Returns the error for an unavailable store: a sentence for the caller, and the reason for the operator. */
export function unavailable(why: string, cause: unknown): AppError {
  return new AppError('unavailable', {
    publicMessage: 'The store of files does not answer. Nothing is lost: try again in a minute.',
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
