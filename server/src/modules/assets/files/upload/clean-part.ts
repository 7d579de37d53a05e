/** The limit of file systems. */
export const NAME_BYTES_MAX = 255;
/** Control and formatting characters: newlines, zero-width and text-direction marks that disguise a name. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Returns a file or folder name in Unicode NFC, without invisible characters and surrounding spaces. */
export function cleanPart(sent: string): string {
  return sent.normalize('NFC').replace(INVISIBLE, '').trim();
}
