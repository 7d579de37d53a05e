/** How the bytes of each type begin, in hexadecimal. */
const beginnings: Partial<Record<string, RegExp>> = {
  png: /^89504e470d0a1a0a/,
  jpeg: /^ffd8ff/,
  webp: /^52494646.{8}57454250/,
  gif: /^474946383[79]61/,
};

/** Whether the bytes of a data URL begin as its type says. */
export function isPicture(dataUrl: string): boolean {
  const [, type = '', base64 = ''] = /^data:image\/(\w+);base64,([A-Za-z0-9+/]+=*)$/.exec(dataUrl) ?? [];
  return beginnings[type]?.test(Buffer.from(base64.slice(0, 24), 'base64').toString('hex')) ?? false;
}
