import {
  DOCUMENT_BYTES_MAX,
  type Draft,
  type DraftDocument,
  documentKinds,
} from '@bakehouse/contract/drafts';
import { FileText, LoaderCircle, X } from 'lucide-react';
import { countOf } from '../../../lib/format/count-of.ts';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { FileDrop } from '../../../ui/file-drop.tsx';
import { useRemoveDocument } from '../draft-calls.ts';
import { isRunning } from '../draft-sentences.ts';
import { useAddDocuments } from './use-add-documents.ts';

/** The documents of a draft; they can be added and removed while it is not running. */
export function DocumentsCard({ draft }: { draft: Draft }) {
  const { draft_id: id, documents } = draft;
  const { reading, refused, add, dismiss } = useAddDocuments(id);
  const removal = useRemoveDocument(id);
  const running = isRunning(draft);
  return (
    <Card title="Documents" description="Only their text is stored, until you delete the draft.">
      {!running && (
        <FileDrop
          onFiles={(chosen) => void add(chosen.map(({ file }) => file))}
          hint="PDF, Word (.docx), Markdown or text"
          bytesMax={DOCUMENT_BYTES_MAX}
          accept={documentKinds.join(',')}
        />
      )}
      {refused.length > 0 && (
        <div className="mt-4 grid gap-2">
          {refused.map((sentence) => (
            <div key={sentence} role="alert" className="flex gap-2 rounded-lg bg-bad-soft py-2 pr-2 pl-3">
              <span className="min-w-0 flex-1 text-compact leading-6 [overflow-wrap:anywhere]">
                {sentence}
              </span>
              <Button size="icon-sm" variant="ghost" aria-label="Dismiss" onClick={() => dismiss(sentence)}>
                <X aria-hidden />
              </Button>
            </div>
          ))}
        </div>
      )}
      {documents.length + reading.length > 0 && (
        <ul className={running ? 'grid gap-1' : 'mt-4 grid gap-1'} aria-label="Documents">
          {documents.map((document) => (
            <DocumentItem
              key={document.document_id}
              document={document}
              onRemove={running ? undefined : () => removal.mutate(document.document_id)}
            />
          ))}
          {reading.map((name) => (
            <li key={name} className="flex min-h-11 items-center gap-3 text-muted">
              <LoaderCircle aria-hidden className="size-4 shrink-0 animate-spin" />
              <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">{name}</span>
              <span className="text-compact" role="status">
                Reading
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

type ItemProps = { document: DraftDocument; onRemove: (() => void) | undefined };

function DocumentItem({ document: { name, pages, empty_pages: empty, characters }, onRemove }: ItemProps) {
  return (
    <li className="flex min-h-11 items-center gap-3">
      <FileText aria-hidden className="size-4 shrink-0 text-muted" />
      <span className="min-w-0 flex-1">
        <span className="[overflow-wrap:anywhere]">{name}</span>
        <span className="block text-compact text-muted">
          {pages !== null && `${countOf(pages, 'page')}, `}
          {formatNumber(characters)} characters
          {empty > 0 && <span className="text-warn"> · {countOf(empty, 'page')} skipped (no text)</span>}
        </span>
      </span>
      {onRemove && (
        <Button size="icon-sm" variant="ghost" aria-label={`Remove ${name}`} onClick={onRemove}>
          <X aria-hidden />
        </Button>
      )}
    </li>
  );
}
