import type { LicenceName } from '@bakehouse/contract/licences';

/** Licences under which anybody may serve a model, by the names that model cards give them. */
const open = new Set([
  'apache-2.0',
  'mit',
  'bsd-2-clause',
  'bsd-3-clause',
  'cc0-1.0',
  'cc-by-4.0',
  'unlicense',
]);

/**
 * What a model's card says of its licence, in the lines before its text. Null for an open one; a card that names no
 * other leaves the model under that of the weights that all of its family come from. Pure.
 */
export function readCardLicence(card: string, ofFamily: LicenceName | null): LicenceName | null {
  const [, header = ''] = /^---\r?\n([\s\S]*?)\r?\n---/.exec(card) ?? [];
  const [, name = ''] = /^license:[ \t]*["']?([^\s"'#]+)/im.exec(header) ?? [];
  return open.has(name.toLowerCase()) ? null : ofFamily;
}
