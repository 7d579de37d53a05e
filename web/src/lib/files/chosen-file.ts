/** A file that somebody has chosen, and its path: its name, or where it lies in the folder that was chosen. */
export type ChosenFile = { file: File; path: string };

/** Files that were chosen together, and the paths of the hidden ones that lay in the same folder. */
export type Choice = { files: ChosenFile[]; hidden: string[] };

/** Of files, or of one folder, whose own name is no part of the paths. */
export function chosenFiles(list: Iterable<File>): Choice {
  const files = [...list];
  if (!files.some((file) => file.webkitRelativePath)) {
    return { files: files.map((file) => ({ file, path: file.name })), hidden: [] };
  }
  return withoutHidden(
    files.map((file) => {
      const path = file.webkitRelativePath;
      return { file, path: path.slice(path.indexOf('/') + 1) };
    }),
  );
}

type Entries = FileSystemEntry[];

/**
 * Of what was dropped, with the files of its folders: one folder alone stands for what is in it, several keep their names.
 * To be called while the drop is handled, since later there is nothing in it. Rejects where a folder cannot be read.
 */
export async function droppedFiles(dropped: DataTransfer): Promise<Choice> {
  const entries = [...dropped.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  if (!entries.some((entry) => entry.isDirectory)) return chosenFiles(dropped.files);
  const [alone, ...more] = entries;
  const isWhole = alone && more.length === 0;
  const found = await filesOf(isWhole ? await listFolder(alone as FileSystemDirectoryEntry) : entries, '');
  return withoutHidden(found);
}

async function filesOf(entries: Entries, folder: string): Promise<ChosenFile[]> {
  const found: ChosenFile[] = [];
  for (const entry of entries) {
    const path = `${folder}${entry.name}`;
    if (entry.isDirectory) {
      found.push(...(await filesOf(await listFolder(entry as FileSystemDirectoryEntry), `${path}/`)));
    } else {
      const one = entry as FileSystemFileEntry;
      found.push({ path, file: await new Promise<File>((resolve, reject) => one.file(resolve, reject)) });
    }
  }
  return found;
}

/** Browsers list some at a time, and none at the end. */
async function listFolder(folder: FileSystemDirectoryEntry): Promise<Entries> {
  const reader = folder.createReader();
  const all: Entries = [];
  for (;;) {
    const some = await new Promise<Entries>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return all;
    all.push(...some);
  }
}

/** In the order of their paths, as they are listed later. What other programs keep in a folder for themselves, as `.git/`, `.cache/` and `.DS_Store`, nobody means to upload with it. */
function withoutHidden(files: ChosenFile[]): Choice {
  const isHidden = ({ path }: ChosenFile) => path.split('/').some((part) => part.startsWith('.'));
  return {
    files: files.filter((one) => !isHidden(one)).toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    hidden: files.filter(isHidden).map(({ path }) => path),
  };
}
