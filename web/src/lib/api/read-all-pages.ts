/** Reads all pages of a cursor-paginated list, one after another. */
export async function readAllPages<Page extends { next_cursor: string | null }>(
  readPage: (cursor: string | undefined) => Promise<Page>,
): Promise<Page[]> {
  const pages: Page[] = [];
  let cursor: string | undefined;
  do {
    const page = await readPage(cursor);
    pages.push(page);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return pages;
}
