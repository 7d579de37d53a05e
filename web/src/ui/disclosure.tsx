import { Collapsible } from '@base-ui/react/collapsible';
import { ChevronRight } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';

type Props = {
  title: ReactNode;
  defaultOpen?: boolean;
  /** Opens the section automatically: a field in it is invalid. */
  hasProblem?: boolean;
  children: ReactNode;
};

/** A collapsible section for advanced settings. */
export function Disclosure({ title, defaultOpen = false, hasProblem = false, children }: Props) {
  const [open, setOpen] = useState(defaultOpen || hasProblem);
  useEffect(() => {
    if (hasProblem) setOpen(true);
  }, [hasProblem]);
  return (
    <Collapsible.Root open={open} onOpenChange={setOpen} className="rounded-xl border border-line">
      <Collapsible.Trigger className="group flex w-full items-center gap-2 rounded-xl px-4 py-3 font-medium hover:bg-subtle">
        <ChevronRight
          aria-hidden
          className="size-4 text-muted transition-transform group-data-panel-open:rotate-90"
        />
        {title}
      </Collapsible.Trigger>
      <Collapsible.Panel className="px-4 pt-1 pb-4">{children}</Collapsible.Panel>
    </Collapsible.Root>
  );
}
