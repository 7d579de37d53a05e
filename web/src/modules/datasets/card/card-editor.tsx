import { CARD_BYTES_MAX } from '@bakehouse/contract/asset-commits';
import type { Asset } from '@bakehouse/contract/assets';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { Markdown } from '../../../ui/markdown.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { QueryView } from '../../../ui/query-view.tsx';
import { Segmented } from '../../../ui/segmented.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { Textarea } from '../../../ui/textarea.tsx';
import { cardQuery, useSaveCard } from './card-calls.ts';
import { cardTemplate } from './card-template.ts';

type Props = { asset: Asset; onClose: () => void };
type Loaded = { content: string; is_whole: boolean; commit_id: string };

/** Edits the card and saves it as a commit on the commit it was read from. */
export function CardEditor({ asset, onClose }: Props) {
  const card = useQuery(cardQuery(asset.dataset_id));
  if (card.data?.is_whole) return <LoadedEditor asset={asset} card={card.data} onClose={onClose} />;
  return (
    <Dialog
      open
      size="lg"
      title="Edit card"
      onOpenChange={(open) => !open && onClose()}
      footer={<Button onClick={onClose}>Close</Button>}
    >
      <QueryView
        query={card}
        failed="The card could not be loaded"
        pending={<Skeleton className="h-[50dvh] w-full rounded-xl" />}
      >
        {() => (
          <Callout tone="warn" title="This card is too long to edit here">
            It has more than 1 MB. Download README.md, shorten it, and upload it again.
          </Callout>
        )}
      </QueryView>
    </Dialog>
  );
}

function LoadedEditor({ asset, card, onClose }: Props & { card: Loaded }) {
  const editor = useEditor(asset, card, onClose);
  const { begun, content, message, isDirty, isPending, canSave } = editor;
  const [view, setView] = useState<'write' | 'preview'>('write');
  return (
    <Dialog
      open
      size="lg"
      title={begun.content === '' ? 'Write a card' : 'Edit card'}
      onOpenChange={(open) => !open && !isPending && onClose()}
      dirty={isDirty && !isPending}
      footer={
        <>
          <Button onClick={onClose} disabled={isPending}>
            Cancel
          </Button>
          <Button variant="primary" loading={isPending} disabled={!canSave} onClick={editor.save}>
            Save
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <Segmented
          label="View"
          className="self-start"
          value={view}
          onChange={setView}
          options={[
            { value: 'write', label: 'Write' },
            { value: 'preview', label: 'Preview' },
          ]}
        />
        {view === 'write' ? (
          <CardText content={content} problem={editor.problem} onChange={editor.write} />
        ) : (
          <Preview content={content} problem={editor.problem} />
        )}
        <Field label="Change summary" aside="Optional">
          <Input
            value={message}
            maxLength={1000}
            placeholder={`${begun.content === '' ? 'Create' : 'Update'} README.md`}
            onChange={(event) => editor.tell(event.target.value)}
          />
        </Field>
      </div>
    </Dialog>
  );
}

/** State of the text and its save. The text stays after an error. */
function useEditor(asset: Asset, card: Loaded, onSaved: () => void) {
  const [begun] = useState(card);
  const first = begun.content || cardTemplate(asset);
  const [content, setContent] = useState(first);
  const [message, setMessage] = useState('');
  const saving = useSaveCard(asset.dataset_id);
  const fault = faultOf(content);
  return {
    begun,
    content,
    message,
    problem: fault ?? (saving.error ? errorMessage(saving.error) : undefined),
    canSave: fault === undefined,
    isDirty: content !== first || message !== '',
    isPending: saving.isPending,
    write: (text: string) => {
      setContent(text);
      saving.reset();
    },
    tell: setMessage,
    save: () => saving.mutate({ content, message, parentCommit: begun.commit_id }, { onSuccess: onSaved }),
  };
}

function faultOf(content: string): string | undefined {
  if (content.trim() === '') return 'The card is empty. To remove it, delete README.md on the Files tab';
  return new TextEncoder().encode(content).length > CARD_BYTES_MAX ? 'A card has at most 1 MB' : undefined;
}

type TextProps = { content: string; problem: string | undefined; onChange: (content: string) => void };

function CardText({ content, problem, onChange }: TextProps) {
  return (
    <Field
      label="README.md"
      error={problem}
      help="Markdown. The lines between --- are metadata: license, language, tags, base_model, datasets."
    >
      <Textarea
        value={content}
        spellCheck
        className="h-[50dvh] max-h-none font-mono text-compact leading-5 [field-sizing:fixed]"
        onChange={(event) => onChange(event.target.value)}
      />
    </Field>
  );
}

function Preview({ content, problem }: Omit<TextProps, 'onChange'>) {
  return (
    <>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard must reach it */}
      <div
        tabIndex={0}
        role="region"
        aria-label="Preview"
        className="h-[50dvh] overflow-y-auto rounded-xl border border-line px-4 py-3"
      >
        <Markdown text={content} />
      </div>
      {problem && <Callout tone="bad">{problem}</Callout>}
    </>
  );
}
