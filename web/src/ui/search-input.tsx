import { Search, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { controlClass } from './control-class.ts';

type Props = {
  value: string;
  /** Called 300 ms after the last letter, and at once when it is cleared. */
  onChange: (value: string) => void;
  label: string;
  placeholder?: string;
};

const DEBOUNCE_MS = 300;

/** The search of a list. */
export function SearchInput({ value, onChange, label, placeholder = label }: Props) {
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  // Changed from outside, by Back or a cleared filter: the field follows.
  if (value !== known) {
    setKnown(value);
    setTyped(value);
  }
  useEffect(() => {
    if (typed === value) return;
    const timer = setTimeout(() => onChange(typed), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [typed, value, onChange]);
  return (
    <div className="relative min-w-0 flex-1 sm:max-w-xs">
      <Search aria-hidden className="pointer-events-none absolute top-2.5 left-3 size-4 text-faint" />
      <input
        type="search"
        aria-label={label}
        placeholder={placeholder}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        className={controlClass('h-9 px-9 [&::-webkit-search-cancel-button]:hidden')}
      />
      {typed !== '' && (
        <button
          type="button"
          aria-label="Clear the search"
          onClick={() => {
            setTyped('');
            onChange('');
          }}
          className="absolute top-1.5 right-1.5 flex size-6 items-center justify-center rounded-md text-muted hover:bg-hover"
        >
          <X aria-hidden className="size-3.5" />
        </button>
      )}
    </div>
  );
}
