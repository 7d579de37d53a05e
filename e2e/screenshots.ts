import path from 'node:path';

/** Where a picture with this name is kept; git ignores the folder. */
export function screenshotPath(name: string): string {
  return path.join(import.meta.dirname, 'screenshots', `${name.replace(/[^\w-]+/g, '-')}.png`);
}
