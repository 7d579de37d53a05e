/** Search parameters of a page with tabs: the one in sight, and the file that it shows. */
export function parseTabAndFile({ tab, file }: Record<string, unknown>): { tab?: string; file?: string } {
  return { ...(typeof tab === 'string' && { tab }), ...(typeof file === 'string' && { file }) };
}
