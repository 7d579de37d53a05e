import { Menu as Base } from '@base-ui/react/menu';
import { Link, type LinkProps } from '@tanstack/react-router';
import { ArrowUpRight, Check } from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';
import { cx } from '../lib/cx.ts';
import { itemClass, popupClass, popupLayer } from './popup-class.ts';

type MenuProps = {
  /** The trigger button, such as `<Button>` or `<button className={buttonClass()}>`. */
  trigger: ReactElement;
  align?: 'start' | 'end';
  children: ReactNode;
};

/** An action menu. */
export function Menu({ trigger, align = 'end', children }: MenuProps) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner className={popupLayer} sideOffset={6} align={align} collisionPadding={8}>
          <Base.Popup className={cx(popupClass, 'min-w-48 max-w-[calc(100vw-1rem)]')}>{children}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

type ItemProps = {
  icon?: ReactNode;
  onSelect: () => void;
  tone?: 'danger';
  children: ReactNode;
};

export function MenuItem({ icon, onSelect, tone, children }: ItemProps) {
  return (
    <Base.Item onClick={onSelect} className={cx(itemClass, tone === 'danger' && 'text-bad [&_svg]:text-bad')}>
      {icon}
      <span className="flex-1">{children}</span>
    </Base.Item>
  );
}

/** An item that leads to a route. */
export function MenuLink({ icon, children, ...link }: LinkProps & { icon?: ReactNode; children: ReactNode }) {
  return (
    <Base.LinkItem closeOnClick render={<Link {...link} />} className={itemClass}>
      {icon}
      <span className="flex-1">{children}</span>
    </Base.LinkItem>
  );
}

/** An item that opens an external page in a new tab. */
export function MenuAnchor({
  href,
  icon,
  children,
}: {
  href: string;
  icon?: ReactNode;
  children: ReactNode;
}) {
  return (
    <Base.LinkItem closeOnClick href={href} target="_blank" rel="noreferrer" className={itemClass}>
      {icon}
      <span className="flex-1">{children}</span>
      <ArrowUpRight aria-hidden className="text-faint" />
      <span className="sr-only">(opens in a new tab)</span>
    </Base.LinkItem>
  );
}

type RadioProps<Value extends string> = {
  label: string;
  value: Value;
  onChange: (value: Value) => void;
  options: readonly { value: Value; label: string; icon?: ReactNode }[];
};

/** A radio group inside a menu. */
export function MenuRadioGroup<Value extends string>({ label, value, onChange, options }: RadioProps<Value>) {
  return (
    <Base.Group>
      <Base.GroupLabel className="px-2.5 pt-1.5 pb-1 font-medium text-faint text-xs">{label}</Base.GroupLabel>
      <Base.RadioGroup value={value} onValueChange={onChange}>
        {options.map((option) => (
          <Base.RadioItem key={option.value} value={option.value} closeOnClick className={itemClass}>
            {option.icon}
            <span className="flex-1">{option.label}</span>
            <Base.RadioItemIndicator>
              <Check aria-hidden />
            </Base.RadioItemIndicator>
          </Base.RadioItem>
        ))}
      </Base.RadioGroup>
    </Base.Group>
  );
}

export function MenuSeparator() {
  return <Base.Separator className="mx-1 my-1 h-px bg-line" />;
}
