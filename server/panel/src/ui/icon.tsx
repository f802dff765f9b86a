// Icons are paths on a grid of 20, drawn with the text's colour.
const paths = {
  home: 'M3 9.5 10 3l7 6.5V17h-5v-5H8v5H3z',
  inbox: 'M3 4h14v9h-6l-4 4v-4H3z',
  reference: 'M6 2h8v16H6zM9 15h2',
  template: 'M3 3h14v14H3zM3 8h14M8 8v9',
  webhook: 'M7 11a4 4 0 1 1 4-4l3 5M14 12a3 3 0 1 1-3 4H6M6 16a3 3 0 1 1 0-5',
  flow: 'M3 3h5v4H3zM12 13h5v4h-5zM5.5 7v4.500a3.500 3.500 0 0 0 3.500 3.500H12',
  run: 'M5 3v14l11-7z',
  extract: 'M4 4h9M4 8h6M4 12h4M12 12a3 3 0 1 0 5 2 3 3 0 0 0-5-2zM16 16l2 2',
  agent: 'M5 7h10v8H5zM10 3v4M8 11h.01M12 11h.01M2 10v3M18 10v3',
  usage: 'M3 17h14M5 17V9M10 17V4M15 17v-6',
  docs: 'M4 3h8l4 4v10H4zM12 3v4h4',
  settings: 'M10 7a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM10 2v3M10 15v3M2 10h3M15 10h3M4.500 4.500l2 2M13.500 13.500l2 2M4.500 15.500l2-2M13.500 6.500l2-2',
  plus: 'M10 4v12M4 10h12',
  close: 'M5 5l10 10M15 5 5 15',
  check: 'M4 10.500 8.500 15 16 6',
  warn: 'M10 3 18 17H2zM10 8v4M10 14.500v.01',
  copy: 'M7 7h10v10H7zM13 7V3H3v10h4',
  menu: 'M3 5h14M3 10h14M3 15h14',
  more: 'M4 10h.01M10 10h.01M16 10h.01',
  up: 'M6 12l4-4 4 4',
  down: 'M6 8l4 4 4-4',
  back: 'M12 4l-6 6 6 6',
  next: 'M8 4l6 6-6 6',
  send: 'M3 10 17 3l-4 14-4-5z',
  clip: 'M14 8l-6 6a3 3 0 0 1-4-4l7-7a2 2 0 0 1 3 3l-7 7',
  undo: 'M4 8h8a4 4 0 0 1 0 8H8M4 8l4-4M4 8l4 4',
  redo: 'M16 8H8a4 4 0 0 0 0 8h4M16 8l-4-4M16 8l-4 4',
  trash: 'M4 6h12M8 6V3h4v3M6 6l1 11h6l1-11',
  search: 'M9 4a5 5 0 1 0 0 10A5 5 0 0 0 9 4zM13 13l4 4',
  person: 'M10 10a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM3 18a7 7 0 0 1 14 0',
  phone: 'M4 3h4l1 4-2 1.500a9 9 0 0 0 4.500 4.500L13 11l4 1v4a1 1 0 0 1-1 1A13 13 0 0 1 3 4a1 1 0 0 1 1-1z',
  sun: 'M10 6a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM10 1v2M10 17v2M1 10h2M17 10h2',
} as const

export type IconName = keyof typeof paths

/** Icon is an ornament: what it means stands beside it in words. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 20 20" fill="none" stroke="currentColor" strokeWidth="1.6" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  )
}
