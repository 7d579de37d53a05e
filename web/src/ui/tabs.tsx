import { Tabs as Base } from '@base-ui/react/tabs';
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';

export type Tab = {
  value: string;
  label: ReactNode;
  content: ReactNode;
  /** Stays mounted while another tab is shown, preserving its state and work. */
  keepMounted?: boolean;
};

type Props = {
  /** Controlled, so that the tab can be stored in the URL. */
  value: string;
  onChange: (value: string) => void;
  tabs: readonly Tab[];
};

export function Tabs({ value, onChange, tabs }: Props) {
  const list = useScrolledList(value);
  return (
    <Base.Root value={value} onValueChange={(next) => onChange(String(next))}>
      <div className="border-line border-b">
        <Base.List {...list} className="tab-list relative flex min-w-0 gap-1 overflow-x-auto">
          {tabs.map((tab) => (
            <Base.Tab
              key={tab.value}
              value={tab.value}
              className="flex h-10 shrink-0 items-center gap-2 px-3 font-medium text-muted hover:text-ink focus-visible:outline-offset-[-2px] data-active:text-ink"
            >
              {tab.label}
            </Base.Tab>
          ))}
          <Base.Indicator className="absolute bottom-0 left-0 h-0.5 w-(--active-tab-width) translate-x-(--active-tab-left) rounded-full bg-accent transition-[translate,width] duration-150" />
        </Base.List>
      </div>
      {tabs.map((tab) => (
        <Base.Panel
          key={tab.value}
          value={tab.value}
          keepMounted={tab.keepMounted}
          className="pt-5 outline-none"
        >
          {tab.content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}

/** Scrolls the tab list to the active tab and marks the edges at which tabs overflow. */
function useScrolledList(value: string) {
  const list = useRef<HTMLDivElement>(null);
  const [hidden, setHidden] = useState('');
  const measure = () => {
    const { scrollLeft: before, scrollWidth, clientWidth } = list.current as HTMLDivElement;
    const after = scrollWidth - clientWidth - before;
    setHidden(`${before > 1 ? 'before' : ''} ${after > 1 ? 'after' : ''}`);
  };
  useLayoutEffect(() => {
    const element = list.current as HTMLDivElement;
    const active = element.querySelector<HTMLElement>('[aria-selected=true]');
    if (active) element.scrollLeft = active.offsetLeft - (element.clientWidth - active.offsetWidth) / 2;
    const observer = new ResizeObserver(measure);
    // Labels also grow, with the counts in them.
    for (const observed of [element, ...element.children]) observer.observe(observed);
    return () => observer.disconnect();
  }, [value]);
  return { ref: list, onScroll: measure, 'data-hidden': hidden };
}
