import type { LicenceName } from '@bakehouse/contract/licences';

/** Licences under which anyone may serve a model, as named in model cards. */
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
 * Reads the licence from a model card's header. Null if it is open, else the licence of the model's family.
 */
export function readCardLicence(card: string, ofFamily: LicenceName | null): LicenceName | null {
  const [, header = ''] = /^---\r?\n([\s\S]*?)\r?\n---/.exec(card) ?? [];
  const [, name = ''] = /^license:[ \t]*["']?([^\s"'#]+)/im.exec(header) ?? [];
  return open.has(name.toLowerCase()) ? null : ofFamily;
}
