import { newId } from '../new-id.ts';
import { type ChosenFile, droppedFiles } from './chosen-file.ts';

/** What was dropped on a page, for the form that makes something of it. */
export type DroppedFolder = {
  /** Of the folder, where it was one; else empty. */
  name: string;
  files: ChosenFile[];
  /** The paths of what was left out. */
  hidden: string[];
};

/** Files cannot stand in an address: they are kept here, and a reload forgets them. */
const kept = new Map<string, DroppedFolder>();

/** Reads what was dropped. To be called while the drop is handled. Rejects where a folder cannot be read. */
export async function readDropped(dropped: DataTransfer): Promise<DroppedFolder> {
  const entries = [...dropped.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  const [alone, ...more] = entries;
  const name = alone?.isDirectory && more.length === 0 ? alone.name : '';
  return { name, ...(await droppedFiles(dropped)) };
}

/** Keeps it under an id that an address can have. */
export function keepDropped(folder: DroppedFolder): string {
  const id = newId();
  kept.set(id, folder);
  return id;
}

/** What was kept under the id; undefined after a reload. */
export function findDropped(id: string | undefined): DroppedFolder | undefined {
  return id === undefined ? undefined : kept.get(id);
}
