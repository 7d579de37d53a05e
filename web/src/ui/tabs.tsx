import { Tabs as Base } from '@base-ui/react/tabs';
import type { ReactNode } from 'react';

export type Tab = {
  value: string;
  label: ReactNode;
  content: ReactNode;
  /** Goes on while another tab is shown: its state and its work are not lost. */
  keepMounted?: boolean;
};

type Props = {
  /** Controlled by the page, so that the tab can live in the URL. */
  value: string;
  onChange: (value: string) => void;
  tabs: readonly Tab[];
};

export function Tabs({ value, onChange, tabs }: Props) {
  return (
    <Base.Root value={value} onValueChange={(next) => onChange(String(next))}>
      <div className="border-line border-b">
        <Base.List className="relative flex min-w-0 gap-1 overflow-x-auto">
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
