/** A part of a document with its text: a page, or the text under a heading; plain text has neither. */
export type Section = { page: number | null; heading: string | null; text: string };

/** A document is unreadable. The message is for the user and continues after the document's name. */
export class UnreadableDocument extends Error {}
