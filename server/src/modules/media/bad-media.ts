/** A media file is not accepted. The message is shown to the user who sent or requested it. */
export class BadMedia extends Error {}
