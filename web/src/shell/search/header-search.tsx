import { useRef, useState } from 'react';
import { SearchBox } from './search-box.tsx';

/** The header's search. `onOpenPalette` opens the palette with the typed text. */
export function HeaderSearch({ onOpenPalette }: { onOpenPalette: (typed: string) => void }) {
  const [typed, setTyped] = useState('');
  const container = useRef<HTMLDivElement>(null);
  return (
    <div ref={container}>
      <SearchBox typed={typed} onType={setTyped} onOpenPalette={onOpenPalette} container={container} />
    </div>
  );
}
