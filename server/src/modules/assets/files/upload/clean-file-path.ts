import { isStorable } from '../../../../platform/db/storable-text.ts';
import { refused } from '../../../../platform/errors.ts';
import { cleanPart, NAME_BYTES_MAX } from './clean-part.ts';

/** The limit of S3 keys, below the limits of the database's index and of workloads' disks. */
const PATH_BYTES_MAX = 1024;

/**
 * Returns the cleaned path for an uploaded file. Removes invisible characters from its parts, like from a
 * name. Throws AppError 'invalid_request' unless it is a path inside a dataset or model.
 */
export function cleanFilePath(sent: string): string {
  // `parseFields` rejects them too, in forms that are read whole.
  if (!isStorable(sent)) throw badPath('path has characters that cannot be stored');
  if (sent.includes('\\')) throw badPath('path must have / between its folders, and no \\');
  const parts = sent.split('/').map(cleanPart);
  if (parts.some((part) => part === '' || part === '.' || part === '..')) {
    throw badPath('path must be relative, as in vae/config.json, without empty parts and without . or ..');
  }
  if (parts.some((part) => Buffer.byteLength(part) > NAME_BYTES_MAX)) {
    throw badPath(`path must have at most ${NAME_BYTES_MAX} bytes between two /`);
  }
  const path = parts.join('/');
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) {
    throw badPath(`path must have at most ${PATH_BYTES_MAX} bytes`);
  }
  return path;
}

function badPath(publicMessage: string) {
  return refused('path', publicMessage);
}
