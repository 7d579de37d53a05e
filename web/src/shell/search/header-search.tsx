import { type Ref, useEffect, useRef, useState } from 'react';
import { loadable } from '../../lib/loadable.tsx';
import { whenIdle } from '../../lib/when-idle.ts';
import { Boundary, EmptyFallback } from '../../ui/boundary.tsx';
import { SEARCH_BOX, SEARCH_LABEL, SearchFrame, searchInputClass } from './search-frame.tsx';

const SearchBox = loadable(async () => (await import('./search-box.tsx')).SearchBox);

type Props = {
  /** False until the session is known. */
  signedIn: boolean;
  onOpenPalette: (typed: string) => void;
};

/** The header's search: a plain input that accepts text until the search box's code loads. */
export function HeaderSearch({ signedIn, onOpenPalette }: Props) {
  const [typed, setTyped] = useState('');
  const [box, setBox] = useState<'not there' | 'there' | 'focused'>('not there');
  const input = useRef<HTMLInputElement>(null);
  const container = useRef<HTMLDivElement>(null);
  const load = () =>
    void SearchBox.preload().then(() => {
      // The plain input keeps working, and hover or focus retries.
      if (!SearchBox.isLoaded()) return;
      setBox((known) =>
        known !== 'not there' ? known : document.activeElement === input.current ? 'focused' : 'there',
      );
    });
  useEffect(() => whenIdle(load), []);
  if (box === 'not there' || !signedIn)
    return <PlainInput ref={input} typed={typed} onType={setTyped} onFocus={load} />;
  return (
    <Boundary fallback={EmptyFallback}>
      <div ref={container}>
        <SearchBox
          typed={typed}
          onType={setTyped}
          focused={box === 'focused'}
          onOpenPalette={onOpenPalette}
          container={container}
        />
      </div>
    </Boundary>
  );
}

type PlainProps = {
  ref: Ref<HTMLInputElement>;
  typed: string;
  onType: (typed: string) => void;
  onFocus: () => void;
};

function PlainInput({ ref, typed, onType, onFocus }: PlainProps) {
  return (
    <SearchFrame>
      <input
        ref={ref}
        {...{ [SEARCH_BOX]: '' }}
        aria-label={SEARCH_LABEL}
        placeholder="Search models and datasets"
        autoComplete="off"
        value={typed}
        onChange={(event) => onType(event.target.value)}
        onFocus={onFocus}
        onPointerEnter={onFocus}
        className={searchInputClass}
      />
    </SearchFrame>
  );
}
