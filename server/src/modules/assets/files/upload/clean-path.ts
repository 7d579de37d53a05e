import { isStorable } from '../../../../platform/db/storable-text.ts';
import { invalidParam } from '../../../../platform/errors.ts';

/** The limit of file systems. */
const NAME_BYTES_MAX = 255;

/** Control and formatting characters: newlines, zero-width and text-direction marks that disguise a name. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The limit of S3 keys, below the limits of the database's index and of workloads' disks. */
const PATH_BYTES_MAX = 1024;

/**
 * Returns the name for an uploaded file without a path: the last part of the sent name, in Unicode NFC,
 * without invisible characters. Throws AppError 'invalid_request' with the part `param` if nothing usable is
 * left.
 */
export function cleanFileName(sent: string, param = 'data_file'): string {
  const last = sent.split(/[/\\]/).at(-1) ?? '';
  // Browsers and curl escape a quote in a form's file name like this, as the HTML standard requires.
  const name = cleanPart(last.replaceAll('%22', '"'));
  if (name === '' || name === '.' || name === '..') {
    throw invalidParam(param, 'The file needs a name');
  }
  if (Buffer.byteLength(name) > NAME_BYTES_MAX) {
    throw invalidParam(param, `The file name is longer than ${NAME_BYTES_MAX} bytes`);
  }
  return name;
}

/**
 * Returns the cleaned path for an uploaded file. Removes invisible characters from its parts, like from a
 * name. Throws AppError 'invalid_request' unless it is a path inside a dataset or model.
 */
export function cleanFilePath(sent: string): string {
  // `parseFields` rejects them too, in forms that are read whole.
  if (!isStorable(sent)) throw invalidParam('path', 'path has characters that cannot be stored');
  if (sent.includes('\\')) throw invalidParam('path', 'path must have / between its folders, and no \\');
  const parts = sent.split('/').map(cleanPart);
  if (parts.some((part) => part === '' || part === '.' || part === '..')) {
    throw invalidParam(
      'path',
      'path must be relative, as in vae/config.json, without empty parts and without . or ..',
    );
  }
  if (parts.some((part) => Buffer.byteLength(part) > NAME_BYTES_MAX)) {
    throw invalidParam('path', `path must have at most ${NAME_BYTES_MAX} bytes between two /`);
  }
  const path = parts.join('/');
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) {
    throw invalidParam('path', `path must have at most ${PATH_BYTES_MAX} bytes`);
  }
  return path;
}

/** Returns a file or folder name in Unicode NFC, without invisible characters and surrounding spaces. */
function cleanPart(sent: string): string {
  return sent.normalize('NFC').replace(INVISIBLE, '').trim();
}
