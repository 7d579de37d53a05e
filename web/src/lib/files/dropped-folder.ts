import { newId } from '../new-id.ts';
import { type ChosenFile, droppedFiles } from './chosen-file.ts';

/** Files dropped on a page, for the form that uses them. */
export type DroppedFolder = {
  /** Name of a dropped folder; else empty. */
  name: string;
  files: ChosenFile[];
  /** Paths of skipped hidden files. */
  hidden: string[];
};

/** Files can't be stored in the URL. Kept in memory, and lost on reload. */
const kept = new Map<string, DroppedFolder>();

/** Reads dropped files. Call during the drop event. Rejects if a folder can't be read. */
export async function readDropped(dropped: DataTransfer): Promise<DroppedFolder> {
  const entries = [...dropped.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  const [alone, ...more] = entries;
  const name = alone?.isDirectory && more.length === 0 ? alone.name : '';
  return { name, ...(await droppedFiles(dropped)) };
}

/** Stores dropped files and returns an id for the URL. */
export function storeDropped(folder: DroppedFolder): string {
  const id = newId();
  kept.set(id, folder);
  return id;
}

/** Returns the stored files; undefined after a reload. */
export function findDropped(id: string | undefined): DroppedFolder | undefined {
  return id === undefined ? undefined : kept.get(id);
}
