/** A media file that is refused. The message is shown to the sender or requester. */
export class BadMedia extends Error {}
