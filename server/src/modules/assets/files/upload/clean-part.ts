/** What file systems take as a name. */
export const NAME_BYTES_MAX = 255;
/** Control and formatting characters: newlines, zero-width and text-direction marks that disguise a name. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The name of a file or folder in Unicode NFC, without invisible characters and spaces around it. Pure. */
export function cleanPart(sent: string): string {
  return sent.normalize('NFC').replace(INVISIBLE, '').trim();
}
