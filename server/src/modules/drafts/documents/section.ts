/** A part of a document with its text: a page, or what stands under a heading; neither is known of plain text. */
export type Section = { page: number | null; heading: string | null; text: string };

/** Nothing can be read of a document: the sentence for who has chosen it, which begins after its name. */
export class UnreadableDocument extends Error {}
