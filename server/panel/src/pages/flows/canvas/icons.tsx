import { memo } from 'react'

// Paths on a grid of 20, as those of ui/icon; by the type of a node, or by its group.
const paths: Record<string, string> = {
  agent: 'M5 7h10v8H5zM10 3v4M8 11h.01M12 11h.01M2 10v3M18 10v3',
  assistant: 'M10 3l1.600 4.400L16 9l-4.400 1.600L10 15l-1.600-4.400L4 9l4.400-1.600zM16 14v3M14.500 15.500h3',
  break: 'M4 4v12M8 10h8M13 7l3 3-3 3',
  call: 'M13 3c-3 0-3 2-3 4v6c0 2 0 4-3 4M7 9h6',
  condition: 'M10 3v4M10 7l-5 5v5M10 7l5 5v5',
  contact: 'M10 10a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM3 18a7 7 0 0 1 14 0',
  continue: 'M16 4v12M4 10h8M9 7l3 3-3 3',
  delay: 'M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM10 6v4l3 2',
  end: 'M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM7.500 7.500h5v5h-5z',
  event: 'M11 2 4 11h5l-1 7 7-9h-5z',
  extract: 'M3 4h14l-5.500 6.500V16L8.500 17v-6.500z',
  flow: 'M3 3h5v4H3zM12 13h5v4h-5zM5.500 7v4.500a3.500 3.500 0 0 0 3.500 3.500H12',
  goto: 'M4 16v-5a4 4 0 0 1 4-4h8M12.500 3.500 16 7l-3.500 3.500',
  handoff: 'M7.500 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2 16a5.500 5.500 0 0 1 9-4.300M12 15h6M15.500 12.500 18 15l-2.500 2.500',
  http: 'M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM3 10h14M10 3c2.500 2 2.500 12 0 14M10 3c-2.500 2-2.500 12 0 14',
  loop: 'M4 9a6 6 0 0 1 10.500-3M16 3v3.500h-3.500M16 11a6 6 0 0 1-10.500 3M4 17v-3.500h3.500',
  message: 'M3 4h14v9H9l-4 4v-4H3z',
  note: 'M4 3h12v9l-5 5H4zM16 12h-5v5M7 7h6M7 10h3',
  question: 'M3 4h14v9H9l-4 4v-4H3zM8.500 7a1.600 1.600 0 1 1 1.700 1.900V9.500M10.200 11.200v.01',
  random: 'M3 6h3c4 0 4 8 8 8h3M14.500 11.500 17 14l-2.500 2.500M3 14h3c1.500 0 2.300-1 3-2.200M11 8.200C11.700 7 12.500 6 14 6h3M14.500 3.500 17 6l-2.500 2.500',
  return: 'M16 4v5a4 4 0 0 1-4 4H4M7.500 9.500 4 13l3.500 3.500',
  set: 'M4 16h12M4.500 12.500l8-8 2.500 2.500-8 8H4.500z',
  switch: 'M4 3v14M4 6h6l2-2h4M4 10h12M4 14h6l2 2h4',
  throw: 'M10 3 18 17H2zM10 8v4M10 14.500v.01',
  tool: 'M12.500 3.500a4 4 0 0 0-4 5.500L3 14.500 5.500 17l5.500-5.500a4 4 0 0 0 5.500-4L14 9.500 10.500 6z',
  trigger: 'M6 3v14l10-7z',
  wait: 'M6 3h8M6 17h8M7 3c0 4 6 5 6 7s-6 3-6 7M13 3c0 4-6 5-6 7s6 3 6 7',
  // What runs have done.
  done: 'M4 10.500 8.500 15 16 6',
  failed: 'M5 5l10 10M15 5 5 15',
  waiting: 'M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM10 6v4l3 2',
  running: 'M6 3v14l10-7z',
  // What the editor does.
  tidy: 'M7 3h6v4H7zM3 13h5v4H3zM12 13h5v4h-5zM10 7v3M5.500 13v-3h9v3',
  fit: 'M3 7V3h4M13 3h4v4M17 13v4h-4M7 17H3v-4',
  bigger: 'M10 4v12M4 10h12',
  smaller: 'M4 10h12',
  plain: 'M4 4h12v12H4z',
}

/** Sign is an ornament of the canvas: what it means stands beside it in words. */
export const Sign = memo(function Sign({ name, size = 18 }: { name: string; size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 20 20" fill="none" stroke="currentColor" strokeWidth="1.6" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true" focusable="false">
      <path d={paths[name] ?? paths.plain} />
    </svg>
  )
})
