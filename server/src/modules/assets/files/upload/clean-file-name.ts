import { AppError } from '../../../../platform/errors.ts';
import { cleanPart, NAME_BYTES_MAX } from './clean-part.ts';

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
    throw new AppError('invalid_request', {
      publicMessage: 'The file needs a name',
      param,
    });
  }
  if (Buffer.byteLength(name) > NAME_BYTES_MAX) {
    throw new AppError('invalid_request', {
      publicMessage: `The file name is longer than ${NAME_BYTES_MAX} bytes`,
      param,
    });
  }
  return name;
}
