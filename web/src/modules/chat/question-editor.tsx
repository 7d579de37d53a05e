import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Textarea } from '../../ui/textarea.tsx';

type Props = {
  text: string;
  /** True if the settings are valid. */
  isAskable: boolean;
  onSend: (question: string) => void;
  onCancel: () => void;
};

/** Edits the last question: Enter sends it, Escape cancels. */
export function QuestionEditor({ text, isAskable, onSend, onCancel }: Props) {
  const [draft, setDraft] = useState(text);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(text.length, text.length);
  }, [text]);

  function submit(event: FormEvent) {
    event.preventDefault();
    if (draft.trim() !== '' && isAskable) onSend(draft.trim());
  }

  function onKeyDown(event: KeyboardEvent<HTMLTextAreaElement>) {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') onCancel();
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    event.currentTarget.form?.requestSubmit();
  }

  return (
    <form onSubmit={submit} className="flex w-full max-w-[85%] flex-col gap-2 self-end">
      <Textarea
        ref={field}
        aria-label="Your question"
        dir="auto"
        value={draft}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="flex flex-wrap items-center justify-end gap-2">
        <p className="min-w-0 flex-1 px-1 text-muted text-xs">This replaces the current answer.</p>
        <Button size="sm" onClick={onCancel}>
          Cancel
        </Button>
        <Button size="sm" variant="primary" type="submit" disabled={draft.trim() === '' || !isAskable}>
          Send again
        </Button>
      </div>
    </form>
  );
}
