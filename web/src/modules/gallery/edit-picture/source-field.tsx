import { formatBytes } from '@bakehouse/contract/labels';
import { pictureTypes } from '@bakehouse/contract/media';
import { X } from 'lucide-react';
import { type RefObject, useEffect, useEffectEvent, useRef, useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Field } from '../../../ui/field.tsx';
import { FileDrop } from '../../../ui/file-drop.tsx';
import { useGeneration } from '../generation-calls.ts';
import { GalleryChoice } from './gallery-choice.tsx';
import { pictureProblem } from './picture-problem.ts';
import type { Source } from './source.ts';
import { pictureOf, SourceImage } from './source-image.tsx';

type Props = {
  label: string;
  /** The user whose gallery is offered; undefined for visitors. */
  userId: string | undefined;
  source: Source | null;
  onChange: (source: Source | null) => void;
  /** Validation problem to show. */
  problem: string | undefined;
  /** A note about how the model uses the picture. */
  note?: string | undefined;
};

/**
 * The picture to edit: dropped, chosen, pasted, or taken from a generation. An invalid file is rejected
 * immediately and does not replace the current picture.
 */
export function SourceField({ label, userId, source, onChange, problem, note }: Props) {
  const [refused, setRefused] = useState<string>();
  // Checking an earlier file may take longer.
  const newest = useRef<File>(null);
  const place = useRef<HTMLDivElement>(null);

  function choose(chosen: Source | null) {
    newest.current = null;
    setRefused(undefined);
    onChange(chosen);
  }

  async function chooseFile(file: File) {
    newest.current = file;
    const found = await pictureProblem(file);
    if (newest.current !== file) return;
    setRefused(found ?? undefined);
    if (found === null) onChange({ file });
  }
  usePastedFile((file) => void chooseFile(file));
  useDroppedFile((file) => void chooseFile(file));
  // A valid picture no longer blocks the form.
  useSubmission(place, () => source !== null && setRefused(undefined));

  return (
    <Field
      label={label}
      error={refused && source ? `${refused}. The previous picture is kept` : (refused ?? problem)}
    >
      {/* The form moves focus to this element. */}
      <div ref={place} data-source role="group" aria-label={label}>
        {source === null ? (
          <FileDrop
            multiple={false}
            bytesMax={null}
            accept={pictureTypes.join()}
            more={userId !== undefined && <GalleryChoice userId={userId} onChoose={choose} />}
            hint="PNG, JPEG or WebP, at most 20 MB. You can also paste a copied picture."
            onFiles={([chosen]) => chosen && void chooseFile(chosen.file)}
          />
        ) : (
          <div className="flex items-center gap-3 rounded-xl bg-subtle p-2">
            <SourceImage
              source={source}
              className="size-16 shrink-0 rounded-lg bg-white object-cover shadow-card"
            />
            <div className="min-w-0 flex-1 text-compact">
              {'file' in source ? <AboutFile file={source.file} /> : <AboutGeneration source={source} />}
              {note && <p className="text-muted text-xs">{note}</p>}
            </div>
            <Button variant="ghost" size="icon" aria-label="Remove the picture" onClick={() => choose(null)}>
              <X aria-hidden />
            </Button>
          </div>
        )}
      </div>
    </Field>
  );
}

function AboutFile({ file }: { file: File }) {
  return (
    <>
      <p className="truncate">{file.name}</p>
      <p className="text-muted text-xs">{formatBytes(file.size)}</p>
    </>
  );
}

function AboutGeneration({ source }: { source: Exclude<Source, { file: File }> }) {
  const isSame = 'sameAsId' in source;
  const { data, isError } = useGeneration(isSame ? source.sameAsId : source.generationId);
  if (isError || (data && !pictureOf(source, data)))
    return <p className="text-bad">This picture is no longer available.</p>;
  if (!data) return null;
  return (
    <>
      {!isSame && <p className="line-clamp-2 [overflow-wrap:anywhere]">{data.prompt}</p>}
      <p className="text-muted text-xs">{isSame ? 'The previous source picture' : 'From your gallery'}</p>
    </>
  );
}

/** Text is pasted at the cursor, but a picture has only one target on the page. */
function usePastedFile(onFile: (file: File) => void): void {
  const paste = useEffectEvent((event: ClipboardEvent) => {
    const [file] = event.clipboardData?.files ?? [];
    if (!file || isTextForField(event)) return;
    event.preventDefault();
    onFile(file);
  });
  useEffect(() => {
    const listen = (event: ClipboardEvent) => paste(event);
    document.addEventListener('paste', listen);
    return () => document.removeEventListener('paste', listen);
  }, []);
}

/** For a drop outside its area the browser would navigate to the file and lose the draft. */
function useDroppedFile(onFile: (file: File) => void): void {
  const drop = useEffectEvent((event: DragEvent) => {
    const [file] = event.dataTransfer?.files ?? [];
    // The drop area has already handled it.
    if (!file || event.defaultPrevented) return;
    event.preventDefault();
    onFile(file);
  });
  useEffect(() => {
    const listenToDrop = (event: DragEvent) => drop(event);
    const allow = (event: DragEvent) => event.dataTransfer?.types.includes('Files') && event.preventDefault();
    document.addEventListener('drop', listenToDrop);
    document.addEventListener('dragover', allow);
    return () => {
      document.removeEventListener('drop', listenToDrop);
      document.removeEventListener('dragover', allow);
    };
  }, []);
}

/** Calls `onSubmit` when the surrounding form is submitted, before the form validates. */
function useSubmission(place: RefObject<HTMLElement | null>, onSubmit: () => void): void {
  const submit = useEffectEvent(onSubmit);
  useEffect(() => {
    const form = place.current?.closest('form');
    const listen = () => submit();
    form?.addEventListener('submit', listen);
    return () => form?.removeEventListener('submit', listen);
  }, [place]);
}

/** Office programs also offer a picture of copied text. */
function isTextForField({ target, clipboardData }: ClipboardEvent): boolean {
  const isField = target instanceof Element && target.closest('input, textarea, [contenteditable]') !== null;
  return isField && clipboardData !== null && clipboardData.types.includes('text/plain');
}
