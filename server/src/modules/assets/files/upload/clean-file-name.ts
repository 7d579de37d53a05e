import { AppError } from '../../../../platform/errors.ts';
import { cleanPart, NAME_BYTES_MAX } from './clean-part.ts';

/**
 * The name under which an uploaded file is kept where no path came with it: the last part of the name that the client sent,
 * in Unicode NFC, without invisible characters. Throws AppError('invalid_request') when nothing
 * usable is left; `param` is the part that it came in.
 */
export function cleanFileName(sent: string, param = 'data_file'): string {
  const last = sent.split(/[/\\]/).at(-1) ?? '';
  // How browsers and curl send a quote in a form's file name, as the HTML standard says.
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
