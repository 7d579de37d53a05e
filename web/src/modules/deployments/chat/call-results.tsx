import type { FormEvent } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Field } from '../../../ui/field.tsx';
import { Textarea } from '../../../ui/textarea.tsx';
import type { ChatCall } from './chat.ts';
import type { Turn } from './kept-conversation.ts';

type Props = {
  calls: ChatCall[];
  /** The settings let it be sent. */
  isAskable: boolean;
  /** What is typed, by the call: it stays while it is on its way. */
  results: Record<string, string>;
  onChange: (results: Record<string, string>) => void;
  onSend: (results: NonNullable<Turn['results']>) => Promise<boolean>;
};

/** What the calls of the last answer came to, as the person says: the model goes on with it. */
export function CallResults({ calls, isAskable, results, onChange, onSend }: Props) {
  const isWhole = calls.every(({ id }) => results[id]?.trim());

  function submit(event: FormEvent) {
    event.preventDefault();
    if (isWhole && isAskable)
      void onSend(calls.map(({ id, name }) => ({ id, name, content: results[id] ?? '' })));
  }

  return (
    <form onSubmit={submit} className="flex w-full min-w-0 flex-col gap-3 pt-1">
      {calls.map(({ id, name }) => (
        <Field key={id} label={<>Result of {name}</>}>
          <Textarea
            rows={2}
            dir="auto"
            className="min-h-14 font-mono text-xs"
            value={results[id] ?? ''}
            onChange={(event) => onChange({ ...results, [id]: event.target.value })}
          />
        </Field>
      ))}
      <Button
        size="sm"
        variant="primary"
        type="submit"
        disabled={!isWhole || !isAskable}
        className="self-end"
      >
        {calls.length > 1 ? 'Send the results' : 'Send the result'}
      </Button>
    </form>
  );
}
