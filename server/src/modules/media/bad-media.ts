/** What a file of pixels cannot be taken for; the sentence is for the person who sent it, or asked for it. */
export class BadMedia extends Error {}
