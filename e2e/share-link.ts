import type { Page } from 'playwright-core';

/** Makes the share link whose button is in sight, and opens it in the page of somebody else. */
export async function openShareLink(page: Page, visitor: Page): Promise<string> {
  await page.getByRole('button', { name: 'Share link' }).click();
  const link = await page.getByRole('textbox', { name: 'Link' }).inputValue();
  await visitor.goto(link);
  return link;
}

/** What the page behind a link says to messengers. */
export async function readCard(link: string): Promise<Map<string, string>> {
  const html = await (await fetch(link)).text();
  const tags = html.matchAll(/<meta (?:property|name)="([^"]+)" content="([^"]*)"/g);
  return new Map([...tags].map(([, name = '', content = '']) => [name, content]));
}
