import { Upload } from 'lucide-react';
import { type DragEvent, type ReactNode, useState } from 'react';
import { type DroppedFolder, readDropped } from '../lib/files/dropped-folder.ts';
import { notify } from './notify.ts';

type Props = {
  /** Text of the overlay while dragging: 'Drop to create a dataset'. */
  label: string;
  onDrop: (folder: DroppedFolder) => void;
  children: ReactNode;
};

/** A drop zone for files and folders. Buttons on the page do the same. */
export function PageDrop({ label, onDrop, children }: Props) {
  const [over, setOver] = useState(false);
  const bringsFiles = ({ dataTransfer }: DragEvent) => dataTransfer.types.includes('Files');
  return (
    <div
      className="relative"
      onDragOver={(event) => {
        if (!bringsFiles(event)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node) || !currentTarget.contains(relatedTarget)) setOver(false);
      }}
      onDrop={(event) => {
        setOver(false);
        if (!bringsFiles(event)) return;
        event.preventDefault();
        readDropped(event.dataTransfer).then(
          (folder) => folder.files.length > 0 && onDrop(folder),
          () => notify.failure('The folder could not be read'),
        );
      }}
    >
      {children}
      {over && (
        <div className="pointer-events-none absolute inset-0 z-20 flex min-h-40 items-center justify-center rounded-xl border-2 border-accent border-dashed bg-accent-soft/90">
          <p className="flex items-center gap-2 font-medium text-accent-text">
            <Upload aria-hidden className="size-5" />
            {label}
          </p>
        </div>
      )}
    </div>
  );
}
