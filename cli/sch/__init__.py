"""`sch`, the user's command line: speaks HTTP to the scheduler and reads timetables offline."""
