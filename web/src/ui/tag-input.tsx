import { TAG_LENGTH_MAX } from '@bakehouse/contract/limits';
import { X } from 'lucide-react';
import { useState } from 'react';
import { Badge } from './badge.tsx';
import { Input } from './input.tsx';

type Props = {
  tags: readonly string[];
  onChange: (tags: string[]) => void;
  /** Maximum number of tags, 20 by default. */
  max?: number;
};

/**
 * Tag input. Enter, a comma or blur adds the trimmed text if it is new; Backspace in the empty field removes
 * the last tag. Overlong tags are added too, for the form to reject.
 */
export function TagInput({ tags, onChange, max = 20 }: Props) {
  const [text, setText] = useState('');
  const full = tags.length >= max;

  function add() {
    const typed = text.split(',').map((tag) => tag.trim());
    const all = [...new Set([...tags, ...typed.filter((tag) => tag !== '')])].slice(0, max);
    if (all.length > tags.length) onChange(all);
    setText('');
  }

  return (
    <div>
      <Input
        value={text}
        disabled={full}
        placeholder={full ? `At most ${max} tags` : 'Type a tag and press Enter'}
        onChange={(event) => setText(event.target.value)}
        onBlur={add}
        onKeyDown={(event) => {
          // Enter ends an IME composition, as in Japanese.
          if (event.nativeEvent.isComposing) return;
          // Enter in an empty field submits the form, as in other fields.
          if (event.key === ',' || (event.key === 'Enter' && text.trim())) {
            event.preventDefault();
            add();
          } else if (event.key === 'Backspace' && text === '' && tags.length > 0) {
            onChange(tags.slice(0, -1));
          }
        }}
      />
      {tags.length > 0 && (
        <ul aria-label="Chosen tags" className="mt-2 flex flex-wrap gap-1.5">
          {tags.map((tag) => (
            <li key={tag}>
              <Badge tone={tag.length > TAG_LENGTH_MAX ? 'bad' : 'neutral'} className="h-6 max-w-60 pr-0">
                <span className="truncate">{tag}</span>
                <button
                  type="button"
                  aria-label={`Remove the tag ${tag}`}
                  onClick={() => onChange(tags.filter((other) => other !== tag))}
                  className="flex size-6 shrink-0 items-center justify-center rounded-md hover:bg-hover hover:text-ink"
                >
                  <X aria-hidden className="size-3" />
                </button>
              </Badge>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
