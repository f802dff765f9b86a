import { defineConfig } from 'vitest/config'

// Two browsers at a time, as there are processors: much of a walk is waiting. What is measured, or drawn by the mouse, has them alone.
const alone = ['big.walk.ts', 'canvas.walk.ts', 'frame.walk.ts']
// A screen follows what it shows, and a busy machine takes its time: what is asked of it is asked until it is so.
const shared = { root: import.meta.dirname, testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: { timeout: 20_000 } } }

export default defineConfig({
  test: {
    projects: [
      { test: { ...shared, name: 'alone', include: alone, maxWorkers: 1, sequence: { groupOrder: 0 } } },
      { test: { ...shared, name: 'together', include: ['*.walk.ts'], exclude: alone, maxWorkers: 2, sequence: { groupOrder: 1 } } },
    ],
  },
})
