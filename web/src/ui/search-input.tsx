import { Search, X } from 'lucide-react';
import { useEffect, useEffectEvent, useState } from 'react';
import { controlClass } from './control-class.ts';

type Props = {
  value: string;
  /** Called 300 ms after the last keystroke, and immediately when cleared. */
  onChange: (value: string) => void;
  label: string;
  placeholder?: string;
};

const DEBOUNCE_MS = 300;

/** The search field of a list. */
export function SearchInput({ value, onChange, label, placeholder = label }: Props) {
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  // Values sent to the page that haven't been returned as `value` yet; that may happen after further typing.
  const [sent, setSent] = useState<readonly string[]>([]);
  if (value !== known) {
    setKnown(value);
    const echo = sent.indexOf(value);
    setSent(echo < 0 ? [] : sent.slice(echo + 1));
    // Changed externally, by Back or a cleared filter: follow it.
    if (echo < 0) setTyped(value);
  }
  const send = (text: string) => {
    setSent(text === value ? [] : [...sent, text]);
    onChange(text);
  };
  const sendTyped = useEffectEvent(() => send(typed));
  const isSent = typed === (sent.at(-1) ?? value);
  useEffect(() => {
    if (isSent) return;
    const timer = setTimeout(() => sendTyped(), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [typed, isSent]);
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
            send('');
          }}
          className="absolute top-1.5 right-1.5 flex size-6 items-center justify-center rounded-md text-muted hover:bg-hover"
        >
          <X aria-hidden className="size-3.5" />
        </button>
      )}
    </div>
  );
}
