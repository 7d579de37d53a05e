/** A chosen file and its path: its name, or its relative path in the chosen folder. */
export type ChosenFile = { file: File; path: string };

/** Chosen files, and the paths of hidden files that were skipped. */
export type Choice = { files: ChosenFile[]; hidden: string[] };

/** Reads files, or one folder, whose own name isn't part of the paths. */
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
 * Reads dropped files and folders: a single folder is replaced by its content, several keep their names. Call
 * during the drop event; the data transfer is empty afterwards. Rejects if a folder can't be read.
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

/** Browsers return entries in batches; an empty batch ends the list. */
async function listFolder(folder: FileSystemDirectoryEntry): Promise<Entries> {
  const reader = folder.createReader();
  const all: Entries = [];
  for (;;) {
    const some = await new Promise<Entries>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return all;
    all.push(...some);
  }
}

/**
 * Sorts by path, as files are listed later, and skips hidden files such as `.git/`, `.cache/` and
 * `.DS_Store`.
 */
function withoutHidden(files: ChosenFile[]): Choice {
  const isHidden = ({ path }: ChosenFile) => path.split('/').some((part) => part.startsWith('.'));
  return {
    files: files.filter((one) => !isHidden(one)).toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    hidden: files.filter(isHidden).map(({ path }) => path),
  };
}
