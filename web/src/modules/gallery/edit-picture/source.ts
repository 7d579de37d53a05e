/** The picture to edit. */
export type Source =
  | ({ file: File } & Edited)
  /** The given picture of a generation, or its first. */
  | { generationId: string; outputId?: string }
  /** The source of another edit. */
  | ({ sameAsId: string } & Edited);

/** The painted area to change; null for all. If undefined, it is the area of the edit in `sameAsId`, if any. */
export type Mask = File | null | undefined;

/**
 * The last edit started with it. After a reload, when the file is gone, the picture is read from that edit.
 */
type Edited = { editId?: string };
