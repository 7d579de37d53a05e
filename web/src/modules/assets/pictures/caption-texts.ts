import type { Captions } from '@bakehouse/contract/captions';

export type CaptionChange = Captions['captions'][number];
/** What was typed, by `captionKey`. */
export type Drafts = ReadonlyMap<string, string>;

/** Tells captions apart: an edited picture may have several lines. */
export function captionKey({ path, line }: Pick<CaptionChange, 'path' | 'line'>): string {
  return `${line ?? ''} ${path}`;
}

/** As training reads it. */
const words = (text: string) => text.split(/\s+/).filter(Boolean).join(' ');

/** The captions with what was typed. */
export function withDrafts(captions: readonly CaptionChange[], drafts: Drafts): CaptionChange[] {
  return captions.map((one) => ({ ...one, text: drafts.get(captionKey(one)) ?? one.text }));
}

/** What there is to save: where what was typed says something else. */
export function changesOf(captions: readonly CaptionChange[], drafts: Drafts): CaptionChange[] {
  const before = new Map(captions.map((one) => [captionKey(one), words(one.text)]));
  return withDrafts(captions, drafts).filter((one) => words(one.text) !== before.get(captionKey(one)));
}

/** How many pictures have no caption. */
export function countMissing(captions: readonly CaptionChange[]): number {
  return captions.filter(({ text }) => words(text) === '').length;
}

/** The word before each caption that does not have it, as training would put it there (captioned.py). */
export function withTrigger(captions: readonly CaptionChange[], trigger: string): Drafts {
  const word = words(trigger);
  return new Map(
    captions.map((one) => {
      const has = one.text.toLowerCase().includes(word.toLowerCase());
      const put = words(one.text) === '' ? word : `${word}, ${one.text}`;
      return [captionKey(one), has ? one.text : put];
    }),
  );
}
