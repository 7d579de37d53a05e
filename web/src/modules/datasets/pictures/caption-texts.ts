import type { Captions } from '@bakehouse/contract/captions';

export type CaptionChange = Captions['captions'][number];
/** Edited texts by `captionKey`. */
export type Drafts = ReadonlyMap<string, string>;

/** Returns a unique key: an edited picture may have several lines. */
export function captionKey({ path, line }: Pick<CaptionChange, 'path' | 'line'>): string {
  return `${line ?? ''} ${path}`;
}

/** Normalizes whitespace like training. */
const words = (text: string) => text.split(/\s+/).filter(Boolean).join(' ');

/** Returns the captions with the edited texts. */
export function withDrafts(captions: readonly CaptionChange[], drafts: Drafts): CaptionChange[] {
  return captions.map((one) => ({ ...one, text: drafts.get(captionKey(one)) ?? one.text }));
}

/** Returns the captions whose text has changed. */
export function changesOf(captions: readonly CaptionChange[], drafts: Drafts): CaptionChange[] {
  const before = new Map(captions.map((one) => [captionKey(one), words(one.text)]));
  return withDrafts(captions, drafts).filter((one) => words(one.text) !== before.get(captionKey(one)));
}

/** Counts pictures without a caption. */
export function countMissing(captions: readonly CaptionChange[]): number {
  return captions.filter(({ text }) => words(text) === '').length;
}

/** Prepends the trigger word to each caption without it, exactly as training does (captioned.py). */
export function prependTrigger(captions: readonly CaptionChange[], trigger: string): Drafts {
  const word = words(trigger);
  return new Map(
    captions.map((one) => {
      const has = one.text.toLowerCase().includes(word.toLowerCase());
      const put = words(one.text) === '' ? word : `${word}, ${one.text}`;
      return [captionKey(one), has ? one.text : put];
    }),
  );
}
