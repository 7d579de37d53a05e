import { Field } from '@base-ui/react/field';
import { ChevronsUpDown } from 'lucide-react';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { cx } from '../lib/cx.ts';
import { loadable } from '../lib/loadable.tsx';
import { preloadLater } from '../lib/when-idle.ts';
import { controlClass } from './control-class.ts';
import { findTyped } from './find-typed.ts';
import type { SelectProps } from './select-list.tsx';
import { useOpenWhenLoaded } from './use-open-when-loaded.ts';

const List = loadable(async () => (await import('./select-list.tsx')).SelectList);

/**
 * Single choice from a few options, with type-ahead and arrow keys. Renders only the button until opened,
 * because the list's code isn't part of the first screen.
 */
export function Select<Value extends string>({
  value,
  onChange,
  options,
  placeholder = 'Choose…',
  size = 'md',
  ...props
}: SelectProps<Value>) {
  const [opened, setOpened] = useState(false);
  const { open, waitingFor } = useOpenWhenLoaded();
  useEffect(() => preloadLater([List.preload]), []);
  const label = props['aria-label'];
  const className = controlClass(
    'flex items-center justify-between gap-2 text-left',
    size === 'sm' ? 'h-8 px-2.5 text-[0.8125rem]' : 'h-9 px-3',
    props.className,
  );
  if (opened) {
    // The list calls it only with values of the options.
    const choose = onChange as (value: string) => void;
    return <List {...{ value, options, placeholder, className, label }} onChange={choose} />;
  }
  // '' can be an option's value.
  const chosen = value === null ? null : (options.find((option) => option.value === value)?.label ?? value);
  return (
    <ClosedSelect
      chosen={chosen}
      isOpening={waitingFor !== null}
      onOpen={() => open(List, () => setOpened(true))}
      onType={(text) => {
        const next = findTyped(options, value, text);
        if (next !== undefined) onChange(next);
      }}
      {...{ placeholder, className, label }}
    />
  );
}

type ClosedProps = {
  chosen: string | null;
  placeholder: string;
  className: string;
  label: string | undefined;
  isOpening: boolean;
  onOpen: () => void;
  onType: (text: string) => void;
};

function ClosedSelect({ chosen, placeholder, className, label, isOpening, onOpen, onType }: ClosedProps) {
  const typed = useRef({ text: '', at: 0 });
  function press(event: KeyboardEvent) {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      onOpen();
    }
    if (!isLetter(event)) return;
    const { text, at } = typed.current;
    typed.current = {
      text: event.timeStamp - at < WORD_MS ? text + event.key : event.key,
      at: event.timeStamp,
    };
    onType(typed.current.text);
  }
  const fetchList = () => void List.preload();
  return (
    <Field.Control
      className={className}
      render={
        <button
          type="button"
          role="combobox"
          aria-haspopup="listbox"
          aria-expanded={false}
          aria-label={label}
          aria-busy={isOpening || undefined}
          onClick={onOpen}
          onKeyDown={press}
          onFocus={fetchList}
          onPointerEnter={fetchList}
        >
          <span className={cx('truncate', chosen === null && 'text-faint')}>{chosen ?? placeholder}</span>
          <span aria-hidden className="shrink-0 text-muted">
            <ChevronsUpDown className="size-3.5" />
          </span>
        </button>
      }
    />
  );
}

/** Longest pause between two letters of one word, in milliseconds. */
const WORD_MS = 750;

function isLetter({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return key.length === 1 && key !== ' ' && !ctrlKey && !metaKey && !altKey;
}
