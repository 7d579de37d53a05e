import type { User } from '@bakehouse/contract/accounts';
import { generatorNames } from '@bakehouse/contract/generators';
import type { LinkProps } from '@tanstack/react-router';
import {
  BookOpenText,
  Boxes,
  CircleUser,
  CreditCard,
  Database,
  GraduationCap,
  ImagePlus,
  KeyRound,
  LayoutDashboard,
  Lock,
  type LucideIcon,
  Mail,
  MessagesSquare,
  ReceiptText,
  Rocket,
  Scale,
  ScrollText,
  Send,
  Server,
  Sparkles,
  Tag,
  Ticket,
  UserPlus,
  Users,
} from 'lucide-react';
import type { SheetName } from '../../lib/sheet.ts';

export type NavItem = {
  label: string;
  icon: LucideIcon;
  /** Also shown to visitors. */
  isPublic?: boolean;
} & (
  | {
      kind: 'route';
      to: LinkProps['to'] & string;
      /** Paths of pages that belong to the item but aren't below `to`. */
      alsoAt?: readonly string[];
    }
  | {
      kind: 'sheet';
      sheet: SheetName;
      /** A page with the same content. */
      alsoAt?: readonly string[];
    }
  /** An external link that opens in a new tab. */
  | { kind: 'link'; href: string }
);
export type NavGroup = { label: string | null; items: NavItem[] };

/** Returns true for list pages with a rail of icons in place of the sidebar. */
export function hidesSidebar(pathname: string): boolean {
  return /\/(dataset|market|model)$/.test(pathname);
}

const groups: NavGroup[] = [
  {
    label: null,
    items: [
      {
        kind: 'route',
        label: 'Dashboard',
        to: '/dashboard',
        icon: LayoutDashboard,
      },
      {
        kind: 'route',
        label: 'Profile',
        to: '/profile',
        icon: CircleUser,
      },
      { kind: 'route', label: 'Chat', to: '/chat', icon: MessagesSquare },
      {
        kind: 'route',
        label: 'Instant Generation',
        to: '/instant-generation',
        alsoAt: ['/gallery', '/bakery', ...generatorNames.map((name) => `/${name}`)],
        icon: Sparkles,
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
      },
      {
        kind: 'route',
        label: 'My Datasets',
        to: '/dataset',
        alsoAt: ['/drafts'],
        icon: Database,
      },
      { kind: 'route', label: 'My Models', to: '/model', alsoAt: ['/model-hub'], icon: Boxes },
      {
        kind: 'route',
        label: 'Diffusion Training',
        to: '/diffusion-training',
        icon: ImagePlus,
      },
      {
        kind: 'route',
        label: 'LLM Training',
        to: '/llm-training',
        icon: GraduationCap,
      },
    ],
  },
  {
    label: null,
    items: [
      {
        kind: 'route',
        label: 'API-Key',
        to: '/api-key',
        icon: KeyRound,
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
      },
      {
        kind: 'sheet',
        label: 'Send Credits',
        sheet: 'send-credits',
        icon: Send,
      },
      {
        kind: 'sheet',
        label: 'Transaction History',
        sheet: 'transaction-history',
        alsoAt: ['/transactions'],
        icon: ReceiptText,
      },
    ],
  },
  {
    label: null,
    items: [
      {
        kind: 'route',
        label: 'Invite friends',
        to: '/invite',
        icon: UserPlus,
      },
    ],
  },
  {
    label: 'Get Help',
    items: [
      {
        kind: 'route',
        label: 'Documentation',
        to: '/docs',
        icon: BookOpenText,
        isPublic: true,
      },
      {
        kind: 'sheet',
        label: 'Contact Us',
        sheet: 'contact',
        icon: Mail,
      },
    ],
  },
];

const operatorGroup: NavGroup = {
  label: 'Operator',
  items: [
    { kind: 'route', label: 'Ledger', to: '/operator/ledger', icon: Scale },
    {
      kind: 'route',
      label: 'Codes',
      to: '/operator/codes',
      icon: Ticket,
    },
    {
      kind: 'route',
      label: 'Prices',
      to: '/operator/prices',
      icon: Tag,
    },
    {
      kind: 'route',
      label: 'Accounts',
      to: '/operator/accounts',
      icon: Users,
    },
    {
      kind: 'route',
      label: 'Audit log',
      to: '/operator/audit',
      icon: ScrollText,
    },
    {
      kind: 'route',
      label: 'Messages',
      to: '/operator/messages',
      icon: Mail,
    },
    {
      kind: 'route',
      label: 'Machines',
      to: '/operator/machines',
      icon: Server,
    },
    {
      kind: 'route',
      label: 'Access requests',
      to: '/operator/access-requests',
      icon: Lock,
    },
  ],
};

/**
 * Returns the sidebar's groups. Operators see one more, visitors only public items. Until the session is
 * known, returns a user's groups. `documentationUrl` is set if the documentation is external.
 */
export function navGroups(
  user: Pick<User, 'is_operator'> | null | undefined,
  documentationUrl: string | null = null,
): NavGroup[] {
  const shown = documentationUrl === null ? groups : withDocumentationAt(documentationUrl);
  if (user === null) {
    return shown
      .map(({ label, items }) => ({ label, items: items.filter((item) => item.isPublic) }))
      .filter(({ items }) => items.length > 0);
  }
  return user?.is_operator ? [...shown, operatorGroup] : shown;
}

function withDocumentationAt(href: string): NavGroup[] {
  return groups.map(({ label, items }) => ({
    label,
    items: items.map((item): NavItem => {
      if (item.kind !== 'route' || item.to !== '/docs') return item;
      const { to: _, alsoAt: __, ...shared } = item;
      return { ...shared, kind: 'link', href };
    }),
  }));
}

/** Returns the item to highlight: for the open sheet, else for its page, else for the current page. */
export function findSelected(
  shown: readonly NavGroup[],
  { pathname, sheet }: { pathname: string; sheet: { name: string; page?: string } | undefined },
): NavItem | undefined {
  const items = shown.flatMap((group) => group.items);
  const ofSheet = items.find((item) => item.kind === 'sheet' && item.sheet === sheet?.name);
  return ofSheet ?? items.find((item) => contains(item, sheet?.page ?? pathname));
}

function contains(item: NavItem, pathname: string): boolean {
  if (item.kind === 'link') return false;
  const own = item.kind === 'route' ? [item.to] : [];
  return [...own, ...(item.alsoAt ?? [])].some(
    (path) => pathname === path || pathname.startsWith(`${path}/`),
  );
}
