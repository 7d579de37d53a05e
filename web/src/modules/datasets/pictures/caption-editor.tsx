import { CAPTION_LENGTH_MAX, type Captions } from '@bakehouse/contract/captions';
import type { FilePictures } from '@bakehouse/contract/data-files';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { ImageOff } from 'lucide-react';
import { useId, useState } from 'react';
import { ApiError } from '../../../lib/api/api-error.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { countOf } from '../../../lib/format/count-of.ts';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { Button } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { Pager } from '../../../ui/pager.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { Textarea } from '../../../ui/textarea.tsx';
import { captionsQuery, useSaveCaptions } from './caption-calls.ts';
import {
  type CaptionChange,
  captionKey,
  changesOf,
  countMissing,
  type Drafts,
  prependTrigger,
  withDrafts,
} from './caption-texts.ts';
import { picturesQuery } from './pictures-query.ts';

type Props = {
  datasetId: string;
  /** The suggested trigger word. */
  trigger?: string;
  onClose: () => void;
};

/** Edits picture captions, and saves them as one commit on the commit they were read from. */
export function CaptionEditor({ datasetId, trigger = '', onClose }: Props) {
  const captions = useQuery(captionsQuery(datasetId));
  if (captions.data && captions.data.captions.length > 0)
    return <LoadedEditor {...{ datasetId, trigger, onClose }} read={captions.data} />;
  return (
    <Dialog
      open
      size="lg"
      title="Captions"
      onOpenChange={(open) => !open && onClose()}
      footer={<Button onClick={onClose}>Close</Button>}
    >
      <QueryView
        query={captions}
        failed="The captions could not be loaded"
        pending={<Skeleton className="h-[50dvh] w-full rounded-xl" />}
      >
        {() => (
          <EmptyState title="No pictures" description="Add PNG, JPEG or WebP files to the dataset first." />
        )}
      </QueryView>
    </Dialog>
  );
}

function LoadedEditor({ datasetId, trigger, onClose, read }: Required<Props> & { read: Captions }) {
  const editor = useEditor(datasetId, read, onClose);
  const { captions, changes, isPending } = editor;
  return (
    <Dialog
      open
      size="lg"
      title="Captions"
      description="Describe what is in each picture."
      onOpenChange={(open) => !open && !isPending && onClose()}
      dirty={changes.length > 0 && !isPending}
      footer={
        <>
          <Button onClick={onClose} disabled={isPending}>
            Cancel
          </Button>
          <Button variant="primary" loading={isPending} disabled={changes.length === 0} onClick={editor.save}>
            {changes.length > 0 ? `Save ${countOf(changes.length, 'caption')}` : 'Save'}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {editor.problem !== null && (
          <Callout tone="bad" title="The captions were not saved">
            {editor.problem}
          </Callout>
        )}
        <TriggerWord first={trigger} onAdd={(word) => editor.write(prependTrigger(captions, word))} />
        <p
          role="status"
          className={editor.missing > 0 ? 'text-compact text-warn' : 'text-compact text-muted'}
        >
          {missingText(editor.missing, captions.length)}
        </p>
        <CaptionList
          datasetId={datasetId}
          revisionId={read.revision_id}
          captions={captions}
          onWrite={(one, text) => editor.write(new Map([[captionKey(one), text]]))}
        />
      </div>
    </Dialog>
  );
}

function missingText(missing: number, all: number): string {
  return missing === 0
    ? `All ${countOf(all, 'picture')} have a caption.`
    : `${formatNumber(missing)} of ${countOf(all, 'picture')} ${missing === 1 ? 'has' : 'have'} no caption.`;
}

/** State of the edits and their save; after a conflict it saves on the current commit. */
function useEditor(datasetId: string, read: Captions, onSaved: () => void) {
  const [drafts, setDrafts] = useState<Drafts>(new Map());
  const saving = useSaveCaptions(datasetId);
  const captions = withDrafts(read.captions, drafts);
  const changes = changesOf(read.captions, drafts);
  const lookAgain = () => queryClient.fetchQuery({ ...captionsQuery(datasetId), staleTime: 0 });
  return {
    captions,
    changes,
    missing: countMissing(captions),
    problem: saving.error ? problemOf(saving.error) : null,
    isPending: saving.isPending,
    write: (more: Drafts) => {
      setDrafts(new Map([...drafts, ...more]));
      saving.reset();
    },
    save: () =>
      saving.mutate(
        { changes, parentCommit: read.commit_id },
        { onSuccess: onSaved, onError: (error) => isStale(error) && void lookAgain() },
      ),
  };
}

/** True if another commit was made in the meantime. */
function isStale(error: Error): boolean {
  return error instanceof ApiError && error.status === 412;
}

function problemOf(error: Error): string {
  return isStale(error)
    ? 'The files have changed since you started. Your captions are still here: save again to apply them to the current files.'
    : errorMessage(error);
}

function TriggerWord({ first, onAdd }: { first: string; onAdd: (word: string) => void }) {
  const [word, setWord] = useState(first);
  return (
    <Field
      label="Trigger word"
      aside="Optional"
      help="Added to the start of each caption that does not contain it."
    >
      <div className="flex gap-2">
        <Input
          value={word}
          autoComplete="off"
          placeholder="zwk style"
          onChange={(event) => setWord(event.target.value)}
        />
        <Button disabled={word.trim() === ''} onClick={() => onAdd(word)}>
          Add to all
        </Button>
      </div>
    </Field>
  );
}

type ListProps = {
  datasetId: string;
  revisionId: string | null;
  captions: CaptionChange[];
  onWrite: (one: CaptionChange, text: string) => void;
};

/** Pictures with captions, in the order of the thumbnails; those without a thumbnail come last. */
function CaptionList({ datasetId, revisionId, captions, onWrite }: ListProps) {
  const pages = useInfiniteQuery(picturesQuery(datasetId, revisionId));
  return (
    <>
      <QueryView
        query={pages}
        failed="The pictures could not be loaded"
        pending={<Skeleton className="h-[40dvh] w-full rounded-xl" />}
      >
        {({ pages: all }) => {
          const pictures = new Map(
            all.flatMap((page) => page.pictures).map((picture) => [picture.path, picture]),
          );
          const shown = pages.hasNextPage ? captions.filter(({ path }) => pictures.has(path)) : captions;
          return (
            <ul aria-label="Captions" className="flex flex-col gap-3">
              {shown.map((one) => (
                <Row
                  key={captionKey(one)}
                  caption={one}
                  picture={pictures.get(one.path)}
                  onWrite={(text) => onWrite(one, text)}
                />
              ))}
            </ul>
          );
        }}
      </QueryView>
      <Pager pages={pages} />
    </>
  );
}

type RowProps = {
  caption: CaptionChange;
  picture: FilePictures['pictures'][number] | undefined;
  onWrite: (text: string) => void;
};

function Row({ caption: { path, text }, picture, onWrite }: RowProps) {
  const field = useId();
  const isMissing = text.trim() === '';
  return (
    <li className="flex items-start gap-3">
      <div className="flex size-20 shrink-0 items-center justify-center overflow-hidden rounded-lg bg-subtle sm:size-24">
        {picture?.thumbnail ? (
          <img src={picture.thumbnail} alt="" className="max-h-full max-w-full" />
        ) : (
          <ImageOff aria-hidden className="size-5 text-faint" />
        )}
      </div>
      <div className="min-w-0 flex-1">
        <div className="mb-1 flex items-baseline justify-between gap-3 text-xs">
          <label htmlFor={field} className="min-w-0 truncate font-medium" title={path}>
            {path}
          </label>
          {isMissing && <span className="shrink-0 text-warn">No caption</span>}
        </div>
        <Textarea
          id={field}
          rows={2}
          value={text}
          maxLength={CAPTION_LENGTH_MAX}
          spellCheck
          className="min-h-14"
          onChange={(event) => onWrite(event.target.value)}
        />
      </div>
    </li>
  );
}
