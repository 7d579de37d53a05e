import type { LinkProps } from '@tanstack/react-router';
import {
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

export type NavItem = {
  label: string;
  to: LinkProps['to'] & string;
  icon: LucideIcon;
  /** Other names that people look for it by. */
  words: string;
};
export type NavGroup = { label: string | null; items: NavItem[] };

const groups: NavGroup[] = [
  {
    label: null,
    items: [{ label: 'Dashboard', to: '/dashboard', icon: LayoutDashboard, words: 'home overview start' }],
  },
  {
    label: 'Deployments',
    items: [
      {
        label: 'Deploy Models',
        to: '/my-deployments',
        icon: Rocket,
        words: 'chat ask playground serve inference deployment stop terminate endpoint',
      },
      { label: 'My Datasets', to: '/dataset', icon: Database, words: 'data files upload rows' },
      { label: 'My Models', to: '/model', icon: Boxes, words: 'weights adapter fine-tuned' },
      {
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
        label: 'Buy Credits',
        to: '/buy-bagels',
        icon: CreditCard,
        words: 'bagels top up purchase pay price prices',
      },
      {
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
        label: 'Profile',
        to: '/profile',
        icon: CircleUser,
        words: 'account password email username settings',
      },
      { label: 'API-Key', to: '/api-key', icon: KeyRound, words: 'token secret key code sdk openai curl' },
    ],
  },
];

const operatorGroup: NavGroup = {
  label: 'Operator',
  items: [{ label: 'Ledger', to: '/operator/ledger', icon: Scale, words: 'operator grant accounts' }],
};

/** The sidebar's groups; operators have one more. */
export function navGroups(isOperator: boolean): NavGroup[] {
  return isOperator ? [...groups, operatorGroup] : groups;
}
