"""Readers turn what others wrote into programs that gradexplain explains; the core never knows them."""
