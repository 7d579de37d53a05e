import type { User } from '@bakehouse/contract/accounts';
import type { LinkProps } from '@tanstack/react-router';
import {
  BookOpenText,
  Boxes,
  CircleUser,
  CreditCard,
  Database,
  GraduationCap,
  KeyRound,
  LayoutDashboard,
  type LucideIcon,
  ReceiptText,
  Rocket,
  Scale,
} from 'lucide-react';
import type { SheetName } from '../lib/sheet.ts';

export type NavItem = {
  label: string;
  icon: LucideIcon;
  /** Other names that people look for it by. */
  words: string;
  /** Visitors see it too. */
  isPublic?: boolean;
} & (
  | { kind: 'route'; to: LinkProps['to'] & string }
  | { kind: 'sheet'; sheet: SheetName }
  /** Leads out of the app, in a tab of its own. */
  | { kind: 'link'; href: string }
);
/** An item of the sidebar. */
export type PageItem = Exclude<NavItem, { kind: 'sheet' }>;
export type NavGroup = { label: string | null; items: PageItem[] };

/** What the Create menu offers. */
export const createItems: NavItem[] = [
  {
    kind: 'sheet',
    label: 'Create Dataset',
    sheet: 'create-dataset',
    icon: Database,
    words: 'new upload add data',
  },
  {
    kind: 'sheet',
    label: 'Create Model',
    sheet: 'create-model',
    icon: Boxes,
    words: 'new fine-tune train upload',
  },
];

const groups: NavGroup[] = [
  {
    label: null,
    items: [
      {
        kind: 'route',
        label: 'Dashboard',
        to: '/dashboard',
        icon: LayoutDashboard,
        words: 'home overview start',
      },
    ],
  },
  {
    label: 'Deployments',
    items: [
      {
        kind: 'route',
        label: 'Deploy Models',
        to: '/my-deployments',
        icon: Rocket,
        words: 'chat ask playground serve inference deployment stop terminate endpoint',
      },
      {
        kind: 'route',
        label: 'My Datasets',
        to: '/dataset',
        icon: Database,
        words: 'data files upload rows',
      },
      { kind: 'route', label: 'My Models', to: '/model', icon: Boxes, words: 'weights adapter fine-tuned' },
      {
        kind: 'route',
        label: 'LLM Training',
        to: '/llm-training',
        icon: GraduationCap,
        words: 'fine-tune train runs loss curves cancel resume',
      },
    ],
  },
  {
    label: 'Billing & Usage',
    items: [
      {
        kind: 'route',
        label: 'Buy Credits',
        to: '/buy-bagels',
        icon: CreditCard,
        words: 'bagels top up purchase pay price prices',
      },
      {
        kind: 'route',
        label: 'Transaction History',
        to: '/transactions',
        icon: ReceiptText,
        words: 'bill billing invoice statement spend spending cost usage balance',
      },
    ],
  },
  {
    label: 'Account',
    items: [
      {
        kind: 'route',
        label: 'Profile',
        to: '/profile',
        icon: CircleUser,
        words: 'account password email username settings',
      },
      {
        kind: 'route',
        label: 'API-Key',
        to: '/api-key',
        icon: KeyRound,
        words: 'token secret key code sdk openai curl',
      },
    ],
  },
  {
    label: 'Get Help',
    items: [
      {
        kind: 'link',
        label: 'API Reference',
        href: '/openapi.json',
        icon: BookOpenText,
        words: 'documentation docs openapi calls help',
        isPublic: true,
      },
    ],
  },
];

const operatorGroup: NavGroup = {
  label: 'Operator',
  items: [
    { kind: 'route', label: 'Ledger', to: '/operator/ledger', icon: Scale, words: 'operator grant accounts' },
  ],
};

/** The sidebar's groups: operators have one more, visitors what is public. While nobody knows who it is, a user's. */
export function navGroups(user: Pick<User, 'is_operator'> | null | undefined): NavGroup[] {
  if (user === null) {
    return groups
      .map(({ label, items }) => ({ label, items: items.filter((item) => item.isPublic) }))
      .filter(({ items }) => items.length > 0);
  }
  return user?.is_operator ? [...groups, operatorGroup] : groups;
}

/** Whether the item is marked: that of the page that the open sheet belongs to; else that of the page in sight. */
export function isSelected(
  item: PageItem,
  { pathname, sheet }: { pathname: string; sheet: { page?: string } | undefined },
): boolean {
  if (item.kind === 'link') return false;
  const shown = sheet?.page ?? pathname;
  return shown === item.to || shown.startsWith(`${item.to}/`);
}
