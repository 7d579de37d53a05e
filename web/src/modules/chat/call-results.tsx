import type { FormEvent } from 'react';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Textarea } from '../../ui/textarea.tsx';
import type { ChatCall, Turn } from './chat.ts';

type Props = {
  calls: ChatCall[];
  again: {
    /** True if the settings are valid. */
    isAskable: boolean;
    answerCalls: (results: NonNullable<Turn['results']>) => Promise<boolean>;
  };
  /** Typed results by call id. They stay while the request is in flight. */
  results: Record<string, string>;
  onChange: (results: Record<string, string>) => void;
};

/** Lets the user enter the results of the last answer's tool calls; the model then continues. */
export function CallResults({ calls, again: { isAskable, answerCalls }, results, onChange }: Props) {
  const isWhole = calls.every(({ id }) => results[id]?.trim());

  function submit(event: FormEvent) {
    event.preventDefault();
    if (isWhole && isAskable)
      void answerCalls(calls.map(({ id, name }) => ({ id, name, content: results[id] ?? '' })));
  }

  return (
    <form onSubmit={submit} className="flex w-full max-w-[85%] flex-col gap-3 self-start">
      {calls.map(({ id, name }) => (
        <Field key={id} label={<>Result of {name}</>}>
          <Textarea
            rows={2}
            dir="auto"
            className="min-h-14 font-mono text-xs"
            placeholder="What the function returned"
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
